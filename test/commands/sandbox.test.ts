import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { InterruptedError } from '../../src/errors.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads, type LiveRun, startLeads } from '../support/run.ts';
import { scriptedReceiver } from '../support/scripted-service.ts';

const running: LiveRun[] = [];
afterEach(async () => {
  for (const run of running.splice(0)) {
    run.abort(new InterruptedError('SIGINT'));
    await run.done;
  }
});

interface Ready {
  url: string;
  port: number;
  apiKey?: string;
  leads: number;
}

/** Starts it on a free port and waits for its readiness record. */
async function sandbox(
  argv: readonly string[],
  options: Parameters<typeof startLeads>[1] = {},
): Promise<{ run: LiveRun; ready: Ready }> {
  const run = startLeads(['sandbox', '--port', '0', '--json', ...argv], options);
  running.push(run);
  await expect.poll(() => run.stdout.text() + run.stderr.text()).toContain('\n');
  expect(run.stderr.text()).toBe('');
  return { run, ready: JSON.parse(run.stdout.text()) as Ready };
}

async function list(
  ready: Ready,
  query = '',
  key = 'sandbox-key',
): Promise<{ status: number; text: string }> {
  const answer = await request(`${ready.url}/api/leads${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

test('it says where it is, serves, and ends at Ctrl-C with 0 and a summary', async () => {
  const { run, ready } = await sandbox(['--leads', '12']);
  expect(ready).toMatchObject({ type: 'ready', leads: 12, apiKey: 'sandbox-key', seed: '1', webhook: null });
  expect((await list(ready)).status).toBe(200);
  run.abort(new InterruptedError('SIGINT'));
  expect(await run.done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(run.stdout.text().split('\n')[1] ?? '')).toEqual({
    type: 'summary',
    leads: 12,
    requests: 1,
    attempts: 0,
    acknowledged: 0,
    pending: 0,
    faults: { api: {}, deliveries: {} },
  });
});

test('for a person, readiness is on stderr with commands that run as printed', async () => {
  const run = startLeads(['sandbox', '--port', '0']);
  running.push(run);
  await expect.poll(() => run.stderr.text()).toContain('/sandbox/deliveries');
  expect(run.stdout.text()).toBe('');
  const [, key = '', login = ''] = /\$ echo (\S+) \| leads (login .*)/.exec(run.stderr.text()) ?? [];
  const { home } = run;
  expect(await leads(login.split(' '), { home, stdin: `${key}\n` })).toMatchObject({ exitCode: 0 });
  expect((await leads(['list', '--status', 'new', '--format', 'ndjson'], { home })).stdout).toMatch(
    /^\{"id":"lead_/,
  );
});

test('the port is taken: one clear line, exit 3', async () => {
  const { ready } = await sandbox([]);
  const { exitCode, stderr } = await leads(['sandbox', '--port', String(ready.port)]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 3,
    stderr: `error: 127.0.0.1:${ready.port} is in use by another program\nhint: give another --port, or --port 0 for any that is free\n`,
  });
});

test('flags that cannot work together, or at all, are usage errors', async () => {
  const cases: [string, ...string[]][] = [
    ['--faults', 'status501=5%'],
    ['--faults', 'reset=200%'],
    ['--delivery-faults', 'drop=1%'],
    ['--retry', '1s'],
    ['--retry', '1s,soon', '--webhook', 'https://localhost/'],
    ['--envelope', 'none'],
    ['--pagination', 'pages'],
    ['--webhook', 'http://example.com/', '--token', 't'],
    ['--webhook', 'ftp://localhost/', '--token', 't'],
    ['--api-key', 'two words'],
  ];
  for (const argv of cases) {
    const { exitCode, stderr } = await leads(['sandbox', '--port', '0', ...argv]);
    expect([argv, exitCode, stderr.split(':')[0]]).toEqual([argv, 2, 'error']);
  }
  const unsigned = await leads(['sandbox', '--port', '0', '--webhook', 'https://localhost/']);
  expect([unsigned.exitCode, unsigned.stderr]).toEqual([3, expect.stringContaining('--token')]);
});

const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();

test('a public key, which cannot sign, stops it before it is ready', async () => {
  const argv = ['sandbox', '--port', '0', '--leads', '1', '--webhook', 'http://localhost:1/'];
  const { exitCode, stdout, stderr } = await leads([...argv, '--scheme', 'discord', '--secret', publicKey]);
  expect([exitCode, stdout, stderr]).toEqual([
    3,
    '',
    "error: a public key cannot sign: the scheme 'discord' needs the private one here\n",
  ]);
});

test('key, style of pages and envelope are as the flags say', async () => {
  const keyFile = join(freshHome(), 'key');
  writeFileSync(keyFile, 'from-a-file\n');
  const { ready } = await sandbox([
    ...['--api-key-file', keyFile, '--seed', 'x'],
    ...['--pagination', 'offset', '--envelope', 'result.leads'],
  ]);
  expect(ready.apiKey).toBeUndefined();
  const { status, text } = await list(ready, '?limit=3', 'from-a-file');
  const body = JSON.parse(text) as { result: { leads: unknown[] }; total?: number };
  expect([status, body.result.leads.length, body.total]).toEqual([200, 3, 250]);
});

test('a key from the environment opens it and is not shown', async () => {
  const { run, ready } = await sandbox([], { env: { LEADS_API_KEY: 'own-key-of-the-user' } });
  expect((await list(ready, '', 'own-key-of-the-user')).status).toBe(200);
  expect((await list(ready)).status).toBe(401);
  expect(run.stdout.text() + run.stderr.text()).not.toContain('own-key-of-the-user');
});

test('--verbose shows every request and attempt, without the key', async () => {
  const ok = await scriptedReceiver(() => 200);
  const run = startLeads([
    ...['sandbox', '--port', '0', '-v', '--leads', '1'],
    ...['--webhook', ok.url, '--token', 'tok-en-of-the-test'],
  ]);
  running.push(run);
  await expect
    .poll(() => run.stderr.text())
    .toMatch(/· POST http:\S+ lead_\w+ attempt 1: acknowledged 200 in \d+ ms/);
  const url = /ready: (\S+)/.exec(run.stderr.text())?.[1] ?? '';
  await list({ url, port: 0, leads: 1 }, '?limit=1');
  await expect.poll(() => run.stderr.text()).toContain('· GET /api/leads?limit=1: 200, 1 lead\n');
  expect(run.stderr.text()).not.toContain('tok-en-of-the-test');
  await ok.close();
});

test('a webhook that acknowledges nothing is named at once, with the reason, and once for each reason', async () => {
  const rejecting = await scriptedReceiver((_, count) => (count === 1 ? undefined : 401));
  const run = startLeads([
    ...['sandbox', '--port', '0', '--leads', '5', '--token', 'tok-en-of-the-test', '--retry', 'none'],
    ...['--webhook', rejecting.url],
  ]);
  running.push(run);
  const notes = (): string[] =>
    run.stderr
      .text()
      .split('\n')
      .filter((line) => line.startsWith('note:'))
      .sort();
  await expect.poll(notes).toHaveLength(2);
  await expect.poll(() => rejecting.received.length).toBe(5);
  expect(notes()).toEqual([
    `note: no delivery to ${rejecting.url} was acknowledged so far: it answered 401: check that both sides use the same scheme and secret`,
    `note: no delivery to ${rejecting.url} was acknowledged so far: the connection was closed without an answer (check http or https; a receiver that closes connections has to say 'Connection: close')`,
  ]);
  expect(run.stderr.text().indexOf('ready:')).toBeLessThan(run.stderr.text().indexOf('note:'));
  await rejecting.close();
});

test('a webhook that acknowledges at last is said to, once', async () => {
  const starting = await scriptedReceiver((_, count) => (count <= 2 ? 503 : 200));
  const run = startLeads([
    ...['sandbox', '--port', '0', '--leads', '5', '--token', 'tok-en-of-the-test', '--retry', '10ms'],
    ...['--webhook', starting.url],
  ]);
  running.push(run);
  await expect.poll(() => run.stderr.text()).toContain('acknowledges');
  await expect.poll(() => starting.received.length).toBe(7);
  expect(run.stderr.text().match(/^note: .*$/gm)).toEqual([
    `note: no delivery to ${starting.url} was acknowledged so far: it answered 503`,
    `note: ${starting.url} acknowledges deliveries now`,
  ]);
  await starting.close();
});

test('a webhook that acknowledges a forgery is named, once for each kind', async () => {
  const blind = await scriptedReceiver(() => 200);
  const run = startLeads([
    ...['sandbox', '--port', '0', '--leads', '5', '--scheme', 'stripe', '--secret', 'octo-of-the-test'],
    ...['--webhook', blind.url, '--delivery-faults', 'badSignature=100%', '--json'],
  ]);
  running.push(run);
  const sandboxUrl = (): string => (JSON.parse(run.stdout.text()) as Ready).url;
  await expect.poll(() => blind.received.length).toBe(10);
  await expect
    .poll(async () => (await request(`${sandboxUrl()}/sandbox/deliveries`)).body.json())
    .toMatchObject({ pending: 0 });
  run.abort(new InterruptedError('SIGINT'));
  const { stderr, stdout } = await run.done;
  expect(stderr.split('\n').filter((line) => line.startsWith('note:'))).toEqual([
    `note: ${blind.url} acknowledged a forged delivery (badSignature): it does not verify what it gets`,
  ]);
  expect(stdout).toContain('"attempts":10,"acknowledged":5,');
  await blind.close();
});

test('a lead is tried for more than an hour while its receiver is not started yet', async () => {
  const clock = new FakeClock(Date.now(), { hasty: true });
  const flags = ['--leads', '1', '--webhook', 'http://127.0.0.1:1', '--no-verify'];
  running.push(startLeads(['sandbox', '--port', '0', ...flags], { clock }));
  await expect.poll(() => clock.sleeps.length).toBe(6);
  expect(clock.sleeps).toEqual([1000, 5000, 30_000, 120_000, 600_000, 3_600_000]);
});

test('a webhook that has acknowledged a lead is not noted, whatever is forged, dropped or fails later', async () => {
  const working = await scriptedReceiver((request, count) =>
    request.headers['x-webhook-token'] !== 'tok-en-of-the-test' ? 401 : count > 12 ? 500 : 200,
  );
  const run = startLeads([
    ...['sandbox', '--port', '0', '--leads', '40', '--token', 'tok-en-of-the-test', '--retry', 'none'],
    ...['--webhook', working.url],
    ...['--delivery-faults', 'badSignature=30%,drop=20%'],
  ]);
  running.push(run);
  await expect.poll(() => working.received.length).toBeGreaterThan(14);
  run.abort(new InterruptedError('SIGINT'));
  const { stderr } = await run.done;
  expect(stderr).toContain('badSignature');
  expect(stderr).not.toContain('note:');
  await working.close();
});
