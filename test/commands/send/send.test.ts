import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { freshHome, startLeads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { receiver, records, send, token } from './support.ts';

test('the plainest form delivers one generated lead, and prints its answer and a summary', async () => {
  const { url, received } = await receiver();
  const run = await send(url);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(received).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = received;
  expect(headers).toMatchObject({ 'x-webhook-token': token, 'content-type': 'application/json' });
  const lead = JSON.parse(body.toString()) as { id: string; contact: { email: string } };
  expect(lead.contact.email).toMatch(/[@.]example\./);
  expect(run.stdout).toMatch(new RegExp(`^200 +\\S+ms  ${lead.id}  \\{"status":"ok"\\}\n\n1 of 1 delivery`));
  expect(run.stdout).toMatch(/^latency {2}p50 .* p90 .* p99 .* max /m);
});

test('samples are new in each run, and those of a seed are the same in each', async () => {
  const { url, received } = await receiver();
  for (const argv of [[], [], ['--seed', 'a'], ['--seed', 'a']])
    await send(url, ['--sample', '3', ...argv, '--concurrency', '1']);
  const bodies = received.map(({ body }) => body.toString());
  expect(new Set(bodies.slice(0, 6)).size).toBe(6);
  expect(bodies.slice(9)).toEqual(bodies.slice(6, 9));
});

test('--json is a record for each attempt, and the summary last', async () => {
  const { url } = await receiver((_, response, nth) =>
    response.writeHead(nth === 2 ? 500 : 200).end(`answer\n${nth}`),
  );
  const run = await send(url, ['--sample', '3', '--json', '--concurrency', '1']);
  expect(run.exitCode).toBe(7);
  const { attempts, summary } = records(run);
  expect(attempts.map(({ attempt, status, answer }) => [attempt, status, answer])).toEqual([
    [1, 200, 'answer 1'],
    [1, 500, 'answer 2'],
    [1, 200, 'answer 3'],
  ]);
  expect(Object.keys(attempts[0] ?? {})).toEqual(['type', 'id', 'attempt', 'status', 'latencyMs', 'answer']);
  expect(summary).toMatchObject({
    type: 'summary',
    openLoop: false,
    deliveries: 3,
    attempts: 3,
    acknowledged: 2,
    failed: 1,
    byStatus: { 200: 2, 500: 1 },
    late: 0,
  });
  expect(Object.keys(summary.latencyMs)).toEqual(['p50', 'p90', 'p99', 'max']);
});

describe('retries', () => {
  test('keep the delivery id and sign anew, and obey Retry-After', async () => {
    const { url, received } = await receiver((_, response, nth) =>
      response.writeHead(nth < 3 ? 503 : 200, nth === 2 ? { 'Retry-After': '40' } : {}).end(),
    );
    const clock = [
      '--retry',
      '1s,5s,30s',
      '--scheme',
      'standard-webhooks',
      '--secret',
      'whsec_c2VjcmV0IG9mIHRoZSBzZW5kIHRlc3Rz',
      '--json',
    ];
    const run = await send(url, clock);
    expect(run.exitCode).toBe(0);
    expect(
      records(run).attempts.map(({ attempt, status, retryInMs }) => [attempt, status, retryInMs]),
    ).toEqual([
      [1, 503, 1000],
      [2, 503, 40_000],
      [3, 200, undefined],
    ]);
    const headers = (name: string) => new Set(received.map((one) => one.headers[name]));
    expect([
      headers('webhook-id').size,
      headers('webhook-timestamp').size,
      headers('webhook-signature').size,
    ]).toEqual([1, 3, 3]);
    expect(records(run).summary).toMatchObject({ deliveries: 1, attempts: 3, acknowledged: 1, failed: 0 });
  });

  test('a redirect is not followed, and is tried again', async () => {
    const { url, received } = await receiver((_, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    const run = await send(url, ['--retry', '1s,2s,3s,4s', '--json']);
    expect(run.exitCode).toBe(7);
    expect([received.length, records(run).summary.failed]).toEqual([5, 1]);
  });
});

test('--repeat delivers each lead so often, each time as a delivery of its own', async () => {
  const { url, received } = await receiver();
  const run = await send(url, ['--sample', '2', '--repeat', '3', '--json']);
  expect(records(run).summary).toMatchObject({ deliveries: 6, acknowledged: 6 });
  const ids = received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
  expect([ids.length, new Set(ids).size]).toEqual([6, 2]);
});

test('--header adds, and takes the place of our content type', async () => {
  const { url, received } = await receiver();
  await send(url, ['--header', 'X-Name: Zoë', '--header', 'content-type: application/json; charset=utf-8']);
  expect(received[0]?.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Buffer.from(String(received[0]?.headers['x-name']), 'latin1').toString('utf8')).toBe('Zoë');
});

test.each([
  ['generated leads to another machine', 'https://receiver.invalid/', [], /another machine/],
  ['new ids for it', 'https://receiver.invalid/', ['--lead', '-', '--new-id'], /another machine/],
  ['a new id for it', 'https://receiver.invalid/', ['--lead', '-', '--set', 'id=x'], /another machine/],
  ['plain HTTP to another machine, also with --yes', 'http://receiver.invalid/', ['--yes'], /plain HTTP/],
  ['plain HTTP there, also for --dry-run', 'http://receiver.invalid/', ['--dry-run'], /plain HTTP/],
  ['--insecure there', 'https://receiver.invalid/', ['--yes', '--insecure'], /this machine only/],
  ['credentials in the URL', 'https://a:hunter2@localhost/', [], /user name or password/],
  ['two sources', 'http://localhost:1/', ['--sample', '2', '--lead', 'x'], /--sample and --lead do not go/],
  ['a rate without an end', 'http://localhost:1/', ['--rate', '50/s'], /--rate needs --for, --count/],
  ['filters without a place', 'http://localhost:1/', ['--since', '7d'], /--since needs --from/],
  ['a status of the inbox', 'http://localhost:1/', ['--from', 'inbox', '--status', 'new'], /--from service/],
  ['a header of ours', 'http://localhost:1/', ['--header', 'Content-Length: 5'], /Content-Length/],
  ['a header that is none', 'http://localhost:1/', ['--header', 'a\nb: c'], /is no header/],
  ['leads and secret from one stdin', 'http://localhost:1/', ['--lead', '-', '--token-file', '-'], /stdin/],
  ['an unknown form of --dry-run', 'http://localhost:1/', ['--dry-run=wget'], /curl, http/],
])('%s is a usage error', async (_, url, argv, message) => {
  const run = await send(url, argv);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toMatch(message);
  expect(run.stderr).not.toContain('hunter2');
});

test('without a scheme it is a configuration error that says how to sign', async () => {
  const { url, received } = await receiver();
  const run = await startLeads(['send', url]).done;
  expect([run.exitCode, received.length]).toEqual([3, 0]);
  expect(run.stderr).toContain('nothing says how deliveries are signed');
});

test('--no-verify sends unsigned', async () => {
  const { url, received } = await receiver();
  expect((await send(url, ['--no-verify'])).exitCode).toBe(0);
  expect(received[0]?.headers['x-webhook-token']).toBeUndefined();
});

test('where nothing is reached the exit code is 5, with a hint, and the summary is there all the same', async () => {
  const run = await send('http://127.0.0.1:1/', ['--json']);
  expect(run.exitCode).toBe(5);
  expect(records(run).summary).toMatchObject({ deliveries: 1, failed: 1, byStatus: { ECONNREFUSED: 1 } });
  expect(JSON.parse(run.stderr)).toMatchObject({
    error: { code: 'service_unavailable', hint: /listen/ },
  });
});

test('a certificate of another authority needs --ca or --insecure, and our own authority is trusted', async () => {
  const other = await ensureAuthority(freshHome(), { now: () => Date.now() });
  const { url, received } = await receiver(undefined, other);
  const untrusted = await send(url);
  expect([untrusted.exitCode, received.length]).toEqual([5, 0]);
  expect(untrusted.stderr).toMatch(/not trusted[\s\S]*--ca FILE/);
  expect((await send(url, ['--ca', other.caPath])).exitCode).toBe(0);
  expect((await send(url, ['--insecure'])).exitCode).toBe(0);
  const home = freshHome();
  const own = await receiver(undefined, await ensureAuthority(join(home, 'data'), { now: () => Date.now() }));
  expect((await send(own.url, [], { home })).exitCode).toBe(0);
});

test('Ctrl-C ends it at once, with the summary of what was sent', async () => {
  const { url, received } = await receiver((_, response, nth) => (nth <= 2 ? response.end() : undefined));
  const live = startLeads(['send', url, '--token', token, '--sample', '100', '--concurrency', '1', '--json']);
  await until(() => received.length === 3, 'the delivery that is not answered');
  live.abort(new InterruptedError('SIGINT'));
  const run = await live.done;
  expect(run.exitCode).toBe(130);
  expect(records(run).summary).toMatchObject({ type: 'summary', deliveries: 3, acknowledged: 2, failed: 0 });
});

test('an empty file has nothing to send, which is said', async () => {
  const { url } = await receiver();
  const file = join(freshHome(), 'empty.ndjson');
  await writeFile(file, '\n');
  const run = await send(url, ['--lead', file]);
  expect(run).toMatchObject({ exitCode: 0, stdout: '' });
  expect(run.stderr).toContain('no lead to send');
  const json = await send(url, ['--lead', file, '--json']);
  expect(records(json).summary).toMatchObject({ type: 'summary', deliveries: 0, latencyMs: null });
});

test('where a proxy is not reached the error names it', async () => {
  const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
  const run = await send('https://receiver.example/', ['--yes'], { env });
  expect(run.exitCode).toBe(5);
  expect(run.stderr).toContain('through the proxy 127.0.0.1:1: connection refused');
  expect(run.stderr).toContain('NO_PROXY');
});
