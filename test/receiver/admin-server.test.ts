import { describe as describeError } from '../../src/errors.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gauge } from '../../src/output/openmetrics.ts';
import { openAdminServer, readiness } from '../../src/receiver/admin-server.ts';
import { FakeClock } from '../support/clock.ts';
import { parseOpenMetrics, valueOf } from '../support/open-metrics.ts';
import { openWire, statuses } from '../support/wire.ts';

async function start(host = '127.0.0.1', limits = {}) {
  const clock = new FakeClock();
  const inbox = { checkWritable: () => Promise.resolve() };
  const stop = new AbortController();
  const server = await openAdminServer({
    host,
    addressOption: 'admin',
    port: 0,
    whyNotReady: readiness(inbox, clock, stop.signal),
    metrics: () => Promise.resolve([gauge('a', 'A.', 1)]),
    clock,
    onError: () => undefined,
    limits,
  });
  onTestFinished(() => server.close(0));
  return { server, stop };
}

/** Head and body of the answer to one request. */
async function ask(port: number, lines: readonly string[]): Promise<{ head: string; body: string }> {
  const wire = await openWire(port);
  wire.send([...lines, 'Connection: close', '', ''].join('\r\n'));
  const text = await wire.closed();
  const end = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, end), body: text.slice(end + 4) };
}

const get = (path: string, method = 'GET', host = 'localhost'): string[] => [
  `${method} ${path} HTTP/1.1`,
  `Host: ${host}`,
];

describe('the admin socket', () => {
  it('says that the process lives, and whether it is ready', async () => {
    const { server, stop } = await start();
    expect(await ask(server.port, get('/livez'))).toMatchObject({ body: 'alive\n' });
    const ready = await ask(server.port, get('/readyz?verbose'));
    expect(ready.head).toMatch(
      /^HTTP\/1.1 200 [^]*content-type: text\/plain; charset=utf-8[^]*cache-control: no-store/,
    );
    expect(ready.body).toBe('ready\n');
    stop.abort();
    const draining = await ask(server.port, get('/readyz'));
    expect(draining.head).toMatch(/^HTTP\/1.1 503 /);
    expect(draining.body).toMatch(/^not ready: draining/);
  });

  it('serves metrics under the content type of OpenMetrics 1.0', async () => {
    const { server } = await start();
    const { head, body } = await ask(server.port, get('/metrics'));
    expect(head).toContain('content-type: application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(valueOf(parseOpenMetrics(body), 'a')).toBe(1);
  });

  it.each(['/livez', '/readyz', '/metrics'])(
    'answers HEAD of %s like GET, without the body',
    async (path) => {
      const { server } = await start();
      const [whole, head] = await Promise.all([
        ask(server.port, get(path)),
        ask(server.port, get(path, 'HEAD')),
      ]);
      const withoutDate = (text: string): string => text.replace(/\r\nDate: .*/, '');
      expect(head.body).toBe('');
      expect(withoutDate(head.head)).toBe(withoutDate(whole.head));
      expect(whole.head).toContain(`content-length: ${whole.body.length}`);
    },
  );

  it.each([
    ['another path', get('/'), 404],
    ['a path that objects inherit', get('/__proto__'), 404],
    ['a path below', get('/metrics/x'), 404],
    ['another method', get('/metrics', 'DELETE'), 405],
    ['another method of another path', get('/x', 'POST'), 404],
    ['OPTIONS', get('/livez', 'OPTIONS'), 405],
    ['the whole URL', get('http://localhost/livez'), 200],
    ['the name of a page', get('/metrics', 'GET', 'rebound.test'), 403],
    ['a page of another origin', [...get('/metrics'), 'Origin: https://evil.test'], 403],
    ['HTTP/1.0 without a name', ['GET /livez HTTP/1.0'], 200],
    ['a large body', [...get('/livez'), 'Content-Length: 5000'], 413],
    ['two names', [...get('/livez'), 'Host: localhost'], 400],
  ])('answers %s: %s → %i', async (_, request, status) => {
    const { server } = await start();
    const { head } = await ask(server.port, request);
    expect(statuses(head)).toEqual([status]);
    expect(/allow: GET, HEAD/.test(head)).toBe(status === 405);
  });

  it('answers for any name where it was bound to other addresses', async () => {
    const { server } = await start('0.0.0.0');
    const { body } = await ask(server.port, get('/livez', 'GET', '10.1.2.3:9090'));
    expect(body).toBe('alive\n');
  });

  it('is not held by clients that open every connection and send nothing, or half a request', async () => {
    const { server } = await start('127.0.0.1', { requestMs: 300, connections: 8 });
    const wires = await Promise.all(Array.from({ length: 8 }, () => openWire(server.port)));
    for (const wire of wires) wire.send('GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    await Promise.all(wires.map((wire) => wire.closed()));
    expect(await ask(server.port, get('/livez'))).toMatchObject({ body: 'alive\n' });
  });

  it('is not held by clients that ask once and keep every connection open', async () => {
    const { server } = await start('0.0.0.0', { connections: 4, idleMs: 50 });
    const kept = await Promise.all(Array.from({ length: 4 }, () => openWire(server.port)));
    for (const wire of kept) wire.send(`${get('/livez').join('\r\n')}\r\n\r\n`);
    // Nobody else comes who would be turned away: they end by themselves.
    for (const wire of kept) expect(statuses(await wire.closed())).toEqual([200]);
    expect(await ask(server.port, get('/livez'))).toMatchObject({ body: 'alive\n' });
  });

  it('tells scrapers that an idle connection ends after 3 s', async () => {
    const { server } = await start();
    const wire = await openWire(server.port);
    wire.send(`${get('/livez').join('\r\n')}\r\n\r\n`);
    expect(await wire.until(/alive\n$/)).toContain('Keep-Alive: timeout=3\r\n');
    wire.socket.destroy();
  });

  it('names its own flag where the address cannot be had', async () => {
    const { server } = await start();
    const again = openAdminServer({
      host: '127.0.0.1',
      addressOption: 'admin',
      port: server.port,
      whyNotReady: () => Promise.resolve(undefined),
      metrics: () => Promise.resolve([]),
      clock: new FakeClock(),
      onError: () => undefined,
    });
    expect(describeError(await again.catch((thrown: unknown) => thrown))).toMatchObject({
      hint: 'give another --admin, or --admin 0 for any that is free',
    });
  });
});
