import { createServer } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DataError, KeyRejectedError, ServiceError } from '../../src/errors.ts';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { RateGate, retryAfterMs } from '../../src/service/client/rate-limit.ts';
import { retryDelay } from '../../src/service/client/retry.ts';
import { FakeClock } from '../support/clock.ts';
import { startReceiver } from '../support/receiver.ts';
import { answering, failureOf, openedAt } from '../support/replying.ts';
import { scripted, sendJson, type TestService } from '../support/service.ts';
import { walk } from '../support/walk.ts';
import { openServer } from '../support/open-server.ts';

type Answer = Parameters<typeof scripted>[0];

/** Answers some requests with a status, and then with one lead. */
const after = (statuses: readonly number[], headers: Record<string, string> = {}): Answer => {
  return (_, response, nth) => {
    const status = statuses[nth];
    if (status === undefined) sendJson(response, { data: [{ id: 'a' }], has_more: false });
    else response.writeHead(status, headers).end('{"error":"e","message":"m"}');
  };
};

describe('the wrong one of http:// and https:// is told as that', () => {
  it('where it may speak HTTPS', async () => {
    const receiver = await startReceiver({
      tls: await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-tls-')), { now: Date.now }),
    });
    const service = await openedAt(receiver.url.replace('https:', 'http:'), { retries: 0 });
    expect(await failureOf(service)).toMatchObject({
      code: 'service_unavailable',
      hint: `is it up, and is it plain HTTP? If not, use ${receiver.url}`,
    });
  });
});

describe('what may pass is tried again', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 520])('%d', async (status) => {
    const { service, server } = await answering(after([status, status]));
    // A size that nobody named may be why a service fails: it would be asked for less.
    const { ids, stats } = await walk(service, { pageSize: 100 });
    expect(ids).toEqual(['a']);
    expect(stats).toMatchObject({ requests: 3, retries: 2, duplicates: 0 });
    expect(server.requests).toHaveLength(3);
    expect(service.said()).toMatch(/retry 1 of 5 in [\d.]+m?s: .*\(?.*\n.*→.*\n.*retry 2 of 5 in/s);
  });

  it('as often as it was allowed to, then says why', async () => {
    const { service, server } = await answering(after(Array<number>(9).fill(503)), { retries: 3 });
    const failure = await failureOf(service);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(failure.message).toBe('the service answered 503: m (e) (tried 4 times)');
    expect(server.requests).toHaveLength(4);
  });

  it('and what fails in the end is of the same kind', async () => {
    const { service } = await answering(after(Array<number>(9).fill(429)), { retries: 1 });
    expect(await failureOf(service)).toMatchObject({ kind: 'rate-limited', status: 429 });
  });

  it('a connection that is reset, or refused', async () => {
    const reset = await answering((request, response, nth) => {
      if (nth === 0) request.socket.resetAndDestroy();
      else sendJson(response, [{ id: 'a' }]);
    });
    expect((await walk(reset.service)).ids).toEqual(['a']);
    const nobody = await scripted(() => undefined);
    await nobody.close();
    const refused = await openedAt(nobody.url, { retries: 2 });
    const failure = await failureOf(refused);
    expect(failure).toMatchObject({ code: 'service_unavailable' });
    expect(failure.message).toBe(`cannot reach ${nobody.url}: the connection was refused (tried 3 times)`);
  });

  it('an answer that does not come', async () => {
    const { service } = await answering(
      (_, response, nth) => {
        if (nth > 0) sendJson(response, [{ id: 'a' }]);
      },
      { timeoutMs: 300 },
    );
    expect((await walk(service)).ids).toEqual(['a']);
  });
});

/** A service of a bare socket, which answers each connection's request with these bytes and ends it. */
async function rawService(answer: () => string): Promise<TestService> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer()));
  });
  const { url } = await openServer(server);
  onTestFinished(() => void server.close());
  return openedAt(url);
}

it('an answer that is no HTTP is named as such', async () => {
  const service = await rawService(() => 'HTTP/1.1 hello\r\n\r\n');
  await expect(walk(service)).rejects.toThrow('does not answer in proper HTTP');
});

describe('an answer that was cut off', () => {
  const whole = JSON.stringify({ data: [{ id: 'a' }, { id: 'b' }], next: null });

  it.each([
    ['with a length', `content-length: ${whole.length}\r\n\r\n${whole.slice(0, 30)}`],
    ['in chunks', `transfer-encoding: chunked\r\n\r\n1e\r\n${whole.slice(0, 30)}\r\n`],
    ['ended by closing', `connection: close\r\n\r\n${whole.slice(0, 30)}`],
    ['ended by closing between records', `connection: close\r\n\r\n${whole.slice(0, 20)}`],
    ['ended by closing before it began', 'connection: close\r\n\r\n'],
  ])('is asked for again: %s', async (_, head) => {
    let requests = 0;
    const service = await rawService(() => {
      requests += 1;
      const whatever = requests < 3 ? head : `content-length: ${whole.length}\r\n\r\n${whole}`;
      return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${whatever}`;
    });
    const { ids, stats } = await walk(service);
    expect(ids).toEqual(['a', 'b']);
    expect(stats).toMatchObject({ retries: 2, duplicates: 0, pages: 1 });
  });

  it('is asked for again when it was compressed, although nobody asked for that', async () => {
    const packed = gzipSync(whole);
    const { service } = await answering((_, response, nth) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(nth === 0 ? packed.subarray(0, 30) : packed);
    });
    const { ids, stats } = await walk(service);
    expect(ids).toEqual(['a', 'b']);
    expect(stats).toMatchObject({ retries: 1 });
  });

  it('is asked for again when it had handed out leads, and none comes twice', async () => {
    const records = Array.from({ length: 40_001 }, (_, i) =>
      JSON.stringify(i % 99 > 0 ? { n: i, x: 'y'.repeat(400) } : { id: `l${i}`, x: 'y'.repeat(400) }),
    );
    const all = `[${records.join(',')}]`;
    const { service } = await answering((_, response, nth) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (nth > 0) response.end(all);
      else response.write(all.slice(0, 14_000_000), () => response.destroy());
    });
    const { ids, stats } = await walk(service, { acceptUnproven: () => undefined });
    expect(ids).toEqual(records.map((_, i) => (i % 99 > 0 ? undefined : `l${i}`)));
    expect(stats).toMatchObject({ retries: 1, duplicates: 0, leads: 40_001 });
  });
});

describe('what cannot succeed is not tried again', () => {
  it.each([
    [400, DataError],
    [404, DataError],
    [409, DataError],
    [422, DataError],
    [401, KeyRejectedError],
    [403, KeyRejectedError],
    [501, ServiceError],
  ])('%d', async (status, kind) => {
    const { service, server } = await answering(after([status, status], { 'x-request-id': 'req_7' }), {
      dialect: { pageSize: 10 },
    });
    const failure = await failureOf(service);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({ status, requestId: 'req_7' });
    expect(failure.message).toContain('m (e)');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['a page for people', 'text/html', '<html>Sign in</html>', 'answered with text/html, not with JSON'],
    ['broken JSON', 'application/json', '[{"id":}]', "unexpected '}' at byte 7, in lead 1"],
    ['JSON without leads', 'application/json', '{"ok":true}', 'no array of leads'],
  ])('%s', async (_, type, body, message) => {
    const { service, server } = await answering((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    const failure = await failureOf(service);
    expect(failure).toMatchObject({ code: 'invalid_data' });
    expect(failure.message).toContain(message);
    expect(server.requests).toHaveLength(1);
  });

  it('a host that does not exist', async () => {
    const service = await openedAt('https://no-such-host.invalid');
    const failure = await failureOf(service);
    expect(failure).toMatchObject({ code: 'service_unavailable' });
    // Without a resolver the look-up fails in a way that may pass.
    expect(failure.message).toMatch(/there is no such host|could not be looked up/);
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 15, 12);

  it.each([
    [' 12 ', 12_000],
    ['99999999999', 99_999_999_999_000],
    ['Thursday, 15-Jan-26 12:00:30 GMT', 30_000],
    ['Thu, 15 Jan 2026 11:00:00 GMT', 0],
    ['2026-01-15T12:01:00Z', 60_000],
    ['-5', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (value, expected) => {
    expect(retryAfterMs(value, now, undefined)).toBe(expected);
  });

  it.each([3_600_000, -3_600_000])('holds as long when somebody sets the time by %d ms', (ms) => {
    const clock = new FakeClock(now);
    const gate = new RateGate(clock);
    gate.hold(30_000);
    clock.set(ms);
    expect(gate.waitMs).toBe(30_000);
    clock.advance(30_000);
    expect(gate.waitMs).toBe(0);
  });

  it('of epoch seconds holds for a day at most', () => {
    const gate = new RateGate(new FakeClock(now));
    gate.hold(1_768_478_400_000);
    expect(gate.waitMs).toBe(24 * 3_600_000);
  });

  it.each(['40', 'Thu, 15 Jan 2026 12:00:40 GMT'])('%s is never undercut', async (value) => {
    const clock = new FakeClock(now, { hasty: true });
    const { service } = await answering(
      after([429, 503], { 'retry-after': value, date: 'Thu, 15 Jan 2026 12:00:00 GMT' }),
      {
        clock,
        random: () => 0,
        timeoutMs: 30_000,
      },
    );
    await walk(service);
    expect(clock.now() - now).toBeGreaterThanOrEqual(40_000);
    expect(clock.sleeps[0]).toBeGreaterThanOrEqual(40_000);
  });

  it.each(['3600', '99999999999999999999', 'Thu, 15 Jan 2026 13:00:00 GMT'])(
    '%s, beyond the deadline, ends the run and says when to come back',
    async (value) => {
      const { service, server } = await answering(
        after([429], { 'retry-after': value, date: 'Thu, 15 Jan 2026 12:00:00 GMT' }),
      );
      const failure = await failureOf(service);
      expect(failure).toMatchObject({ code: 'service_unavailable', status: 429 });
      expect(failure.message).toContain('it asks to come back in');
      expect(failure.hint).toMatch(
        value.length > 15 && /^\d+$/.test(value) ? /try again later/ : /2026-01-15T13:00:00Z/,
      );
      expect(server.requests).toHaveLength(1);
      expect(service.clock.sleeps).toEqual([]);
    },
  );
});

describe('the delay before a retry', () => {
  it('is drawn evenly from nothing to twice as much each time, up to the cap', () => {
    for (const [retry, most] of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      const draws = Array.from({ length: 10_000 }, () => retryDelay(retry, Math.random));
      expect(Math.max(...draws)).toBeLessThan(most);
      expect(Math.min(...draws)).toBeLessThan(most * 0.01);
      const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
      expect(Math.abs(mean / most - 0.5)).toBeLessThan(0.03);
    }
  });

  it('ends with the deadline of ten time-outs, whatever the number of retries', async () => {
    const clock = new FakeClock(undefined, { hasty: true });
    const { service } = await answering(after(Array<number>(99).fill(500)), {
      clock,
      retries: 99,
      timeoutMs: 5000,
      random: () => 0.999,
    });
    const begun = clock.now();
    expect(await failureOf(service)).toMatchObject({ code: 'service_unavailable' });
    expect(clock.now() - begun).toBeLessThanOrEqual(50_000);
  });
});

describe('the key', () => {
  it('goes with every request, and nowhere else', async () => {
    const seen: (string | undefined)[] = [];
    const other = await scripted((request, response) => {
      seen.push(request.headers.authorization);
      sendJson(response, []);
    });
    onTestFinished(() => other.close());
    for (const status of [301, 302, 303, 307, 308]) {
      const { service } = await answering((_, response) => {
        response.writeHead(status, { location: `${other.url}/api/leads` }).end();
      });
      const failure = await failureOf(service);
      expect(failure).toMatchObject({ code: 'invalid_data' });
      expect(failure.message).toContain(`redirects to ${other.url}, another origin`);
      expect(failure.hint).toContain(`leads login --base-url ${other.url}`);
    }
    for (const send of [
      { body: { data: [{ id: 'a' }], next: `${other.url}/next` }, headers: {} },
      { body: [{ id: 'a' }], headers: { link: `<${other.url}/next>; rel="next"` } },
      { body: [{ id: 'a' }], headers: { link: `<//evil.example/next>; rel="next"` } },
    ]) {
      const { service } = await answering((_, response) => sendJson(response, send.body, send.headers));
      expect((await failureOf(service)).message).toContain('another origin');
    }
    expect(seen).toEqual([]);
  });

  it('does not follow a position that somebody wrote into a checkpoint', async () => {
    const { service, server } = await answering((_, response) => sendJson(response, []));
    const from = { style: 'url', url: 'https://evil.example/api/leads' } as const;
    await expect(walk(service, { from })).rejects.toThrow('another origin');
    expect(server.requests).toEqual([]);
  });

  it('follows redirects within its origin, a few', async () => {
    const { service, server } = await answering((request, response) => {
      if (request.url?.includes('/moved') === true) sendJson(response, [{ id: 'a' }]);
      else
        response.writeHead(308, { location: `/moved${new URL(request.url ?? '', 'http://x').search}` }).end();
    });
    expect((await walk(service)).ids).toEqual(['a']);
    expect(server.requests[1]).toBe('/moved?limit=1000');
    const round = await answering((request, response) => {
      response.writeHead(302, { location: request.url ?? '' }).end();
    });
    expect((await failureOf(round.service)).message).toContain('redirects more than 5 times');
  });

  it('is not shown when the service quotes it', async () => {
    const key = 'sk_live_0123456789abcdef';
    const { service } = await answering(
      (request, response) => {
        response
          .writeHead(401)
          .end(
            JSON.stringify({ error: key, message: `${request.headers.authorization ?? ''} is not valid` }),
          );
      },
      { key, dialect: { path: `/api/leads?copy=${key}` } },
    );
    const failure = await failureOf(service);
    expect(failure.message).toContain('Bearer …cdef is not valid');
    expect(
      `${failure.message} ${failure.hint ?? ''} ${failure.requestId ?? ''} ${service.said()}`,
    ).not.toContain(key);
  });
});

it('names the status alone where the body says nothing', async () => {
  const { service } = await answering((_, response) => void response.writeHead(400).end('<html>'), {
    dialect: { pageSize: 1 },
  });
  expect((await failureOf(service)).message).toBe('the service answered 400');
});

it('stops at once when it is interrupted', async () => {
  const { service } = await answering(() => undefined);
  const stopper = new AbortController();
  const reason = new Error('stop');
  const walked = walk({ ...service, signal: stopper.signal });
  stopper.abort(reason);
  await expect(walked).rejects.toBe(reason);
});
