import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { LeadsError } from '../../src/errors.ts';
import { FakeClock } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { leads as run } from '../support/run.ts';
import { answering, failureOf } from '../support/replying.ts';
import { sendJson } from '../support/service.ts';
import { walk } from '../support/walk.ts';

async function failing(answer: Parameters<typeof answering>[0]): Promise<LeadsError & { requests: number }> {
  const { server, service } = await answering(answer, { retries: 2 });
  return Object.assign(await failureOf(service), { requests: server.requests.length });
}

const bodies: readonly {
  readonly name: string;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly expected: object;
  readonly says: string;
}[] = [
  {
    name: 'JSON that ends too early in a body that came whole is the answer of the service, after the retries',
    body: '{"data":[{"id":"a"},',
    expected: { code: 'invalid_data', requests: 3 },
    says: 'it ends too early, although it came whole (tried 3 times)',
  },
  {
    name: 'an error with status 200 is told in the words of the service',
    body: '{"error":"gone","message":"the plan has ended"}',
    expected: { code: 'invalid_data', requests: 1 },
    says: 'the service answered 200 with an error: the plan has ended (gone)',
  },
  {
    name: 'a limit that is told with status 200 is waited for',
    body: '{"error":"quota","message":"the plan has ended","data":[]}',
    expected: { code: 'service_unavailable', status: 200, requests: 3 },
    says: 'the service limits the rate (200): the plan has ended (quota) (tried 3 times)',
  },
  {
    name: 'a failure that may pass is tried again when it is told with status 200',
    body: '{"success":false,"message":"db timeout","data":[]}',
    expected: { code: 'service_unavailable', requests: 3 },
    says: 'the service answered 200 with an error: db timeout (tried 3 times)',
  },
  {
    name: 'a refusal of the key that is told with status 200 is one',
    body: '{"code":40105,"message":"access token expired","data":{}}',
    expected: { code: 'key_refused', status: 200, requests: 1 },
    says: 'the service refused the API key (200): access token expired (40105)',
  },
  {
    name: 'a check for bots that answers 200 is no answer of the service',
    body: '<html><title>Just a moment...</title></html>',
    headers: { 'content-type': 'text/html' },
    expected: { code: 'service_unavailable', requests: 1 },
    says: 'something in front of the service refuses this machine (200): Just a moment...',
  },
  {
    name: 'a compressed answer that is broken is called that',
    body: Buffer.concat([gzipSync('[]').subarray(0, 10), Buffer.alloc(20, 0xff)]),
    headers: { 'content-encoding': 'gzip' },
    expected: { code: 'invalid_data' },
    says: 'sent a compressed answer that is broken',
  },
];

it.each(bodies)('$name', async ({ body, headers, expected, says }) => {
  const failure = await failing((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...headers })
      .end(body);
  });
  expect(failure).toMatchObject(expected);
  expect(failure.message).toContain(says);
});

it.each(['Ünknown', 'Ünknown!'])(
  'a long answer that is cut within a character is UTF-8: %s',
  async (start) => {
    const body = Buffer.from(`${start} ${'é'.repeat(70_000)}`);
    const failure = await failing((_request, response) => {
      response.writeHead(400).end(body);
    });
    expect(failure.message).toContain(start);
    expect(failure.message).not.toContain('Ã');
  },
);

it('a proxy that cannot be reached is named', async () => {
  const port = await freePort();
  const { exitCode, stderr } = await run(['export', '--retries', '0'], {
    env: {
      LEADS_API_KEY: 'key',
      LEADS_BASE_URL: 'https://service.example',
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
    },
  });
  expect([exitCode, stderr]).toEqual([
    5,
    expect.stringContaining(`cannot reach the proxy 127.0.0.1:${port}`),
  ]);
});

it('no request goes to an origin while a Retry-After of another one runs', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  let until = 0;
  let early = 0;
  const { service } = await answering(
    (request, response, nth) => {
      if (clock.now() < until) early += 1;
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
      if (nth === 2) {
        until = clock.now() + 30_000;
        response.writeHead(429, { 'retry-after': '30' }).end();
        return;
      }
      const data = Array.from({ length: page < 12 ? 10 : 0 }, (_, i) => ({ id: `l${page}-${i}` }));
      sendJson(response, { data, page, total: 110 });
    },
    { clock, random: () => 0 },
  );
  // A reader that is slower than the requests, so that they are several at a time.
  expect((await walk(service, { concurrency: 4, pageSize: 10 })).ids).toHaveLength(110);
  expect(early).toBeLessThan(4);
});

it('an error in the body of a success is told with the status that came', async () => {
  const failure = await failing((_, response) =>
    response
      .writeHead(202, { 'content-type': 'application/json' })
      .end('{"error":"gone","message":"it ended"}'),
  );
  expect(failure.message).toContain('the service answered 202 with an error: it ended');
});
