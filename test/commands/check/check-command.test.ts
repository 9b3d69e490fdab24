import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { startReceiver } from '../../check/obedient-receiver.ts';
import { check, type CheckSummary, hurriedClock } from '../../check/support.ts';
import { freePort } from '../../support/free-port.ts';
import { freshHome, leads, type RunOptions, startLeads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { openServer } from '../../support/open-server.ts';

const secret = 'Token-of-the-Tests';
const token = ['--token', secret];
const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };

const obedient = () => startReceiver('token', secret);

/** Lets a delivery without a token in, and answers 500 to what it cannot parse: a must and a should. */
const faulty = () =>
  startReceiver('token', secret, () => ({
    authenticates: (one) =>
      !one.rawHeaders.some(([name, value]) => name === 'x-webhook-token' && value !== secret),
    parse(body) {
      if (body.length === 0 || body.toString().endsWith('{')) throw new Error('unexpected');
      return JSON.parse(body.toString()) as unknown;
    },
  }));

const run = (argv: readonly string[], options: RunOptions = {}) =>
  leads(['check', ...argv], { clock: hurriedClock, random: Math.random, env, ...options });

test('the conclusion is one line, in colour as well', async () => {
  const { url } = await obedient();
  const { stdout } = await run([url, ...token, '--only', 'credential'], {
    env: { ...env, FORCE_COLOR: '1' },
  });
  expect(stdout).toMatch(/^\u001b\[32m\d+ passed, [^\u001b]* skipped in \w+\u001b\[39m\n$/m);
  expect(stdout.match(/ passed, /g)).toHaveLength(1);
});

describe('what is asked for', () => {
  test('--list shows every probe with its level, and sends nothing', async () => {
    const { stdout, exitCode } = await run(['--list']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^credential\.wrong +must +4\.2 rule 3 +4xx to a wrong credential$/m);
    const json = (await run(['--list', '--json', '--only', 'time'])).stdout.trim().split('\n');
    expect(json.map((line) => (JSON.parse(line) as { group: string }).group)).toEqual(Array(3).fill('time'));
  });

  test('--only and --skip take names, groups and patterns; delivery.valid comes along where it is needed', async () => {
    const { url } = await obedient();
    const result = await check([url, ...token, '--only', 'credential', '--skip', 'credential.*o*d*']);
    expect(result.probes.map(({ name }) => name)).toEqual([
      ...['delivery.valid', 'credential.missing', 'credential.wrong'],
    ]);
    const form = await check([url, ...token, '--only', 'protocol.method']);
    expect(form.probes.map(({ name }) => name)).toEqual(['delivery.valid', 'protocol.method']);
    const body = await check([url, ...token, '--only', 'body.n?-lead']);
    expect(body.probes.map(({ name }) => name)).toEqual(['delivery.valid', 'body.no-lead']);
  });

  test.each([
    ['token', 'credential', []],
    ['github', 'credential.wrong', ['--scheme', 'github']],
    ['svix', 'time.far', ['--scheme', 'svix']],
  ])('with the wrong secret no refusal proves anything: %s, --only %s', async (scheme, group, flags) => {
    const word = (text: string): string => (scheme === 'svix' ? `whsec_${btoa(text)}` : text);
    const { url } = await startReceiver(scheme, word('the secret of the receiver!!!'));
    const key = [scheme === 'token' ? '--token' : '--secret', word('another one of some length!!!')];
    const result = await check([url, ...flags, ...key, '--only', group]);
    expect([result.failed, result.exitCode]).toEqual([['delivery.valid'], 7]);
    expect(result.probes[0]?.hint).toContain('the same scheme and secret');
  });

  test.each([
    [['--only', 'nothing.*'], "--only 'nothing.*' matches no probe"],
    [['--skip', '*'], '--only and --skip leave no probe'],
  ])('%j is a usage error', async (flags, message) => {
    const { stderr, exitCode } = await run(['https://localhost:1/', ...token, ...flags]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each([
    [[], 2, 'which receiver?'],
    [['http://example.com/hook', ...token], 2, 'plain HTTP'],
    [['https://example.com/hook', ...token, '--insecure'], 2, '--insecure is for this machine only'],
    [['https://localhost:1/hook'], 3, 'nothing says how deliveries are signed'],
    [
      ['https://localhost:1/hook', ...token, '--baseline', '/nowhere/b.json'],
      6,
      'there is no baseline in /nowhere/b.json',
    ],
    [['https://localhost:1/hook', ...token, '--junit', '/'], 8, 'it is a directory'],
  ])('%j ends with %i before anything is sent', async (argv, code, message) => {
    const { stderr, exitCode } = await run(argv);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('a receiver that cannot be reached is exit 5', () => {
  test('where nothing listens', async () => {
    const { stderr, exitCode, stdout } = await run([`http://127.0.0.1:${await freePort()}/`, ...token]);
    expect([exitCode, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(
      /^error: http:\/\/127\.0\.0\.1:\d+ was not reached: connection refused .*\nhint: is the receiver running/,
    );
  });

  test('where a connection is taken and nothing said of TLS', async () => {
    const opened = await openServer(createServer());
    onTestFinished(opened.close);
    const url = `https://127.0.0.1:${opened.port}/`;
    const { stderr, exitCode } = await run([url, ...token, '--timeout', '200ms']);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining('no answer in time')]);
  });
});

describe('what counts', () => {
  test('a must that fails is exit 7, a should only with --strict', async () => {
    const { url } = await faulty();
    const all = await check([url, ...token]);
    expect(all.failed).toEqual(['credential.missing', 'body.no-lead']);
    expect(all.exitCode).toBe(7);
    const shoulds = [url, ...token, '--skip', 'credential'];
    expect((await check(shoulds)).exitCode).toBe(0);
    expect((await check([...shoulds, '--strict'])).exitCode).toBe(7);
  });

  test('a must that was answered 429 is not known to hold', async () => {
    const { url } = await startReceiver('token', 'shared', () => ({
      before: (_, response) => (response.writeHead(429).end(), true),
    }));
    const { exitCode, stdout } = await run([url, ...token, '--only', 'delivery.valid']);
    expect([exitCode, stdout]).toEqual([7, expect.stringContaining('answered 429, so nothing is proved')]);
  });

  test('what is only worth knowing is no reason for exit 7 where it was answered 429', async () => {
    let isFirst = true;
    const { url } = await startReceiver('token', secret, () => ({
      before(_, response) {
        if (!isFirst) response.writeHead(429).end();
        return !isFirst || (isFirst = false);
      },
    }));
    const result = await check([url, ...token, '--only', 'body.few-fields', '--strict']);
    expect([result.probes.map((one) => one.result), result.exitCode]).toEqual([['pass', 'warn'], 0]);
  });

  test('what a baseline knows fails nobody, and what passes again is said', async () => {
    const file = join(freshHome(), 'baseline.json');
    const { url } = await faulty();
    const written = await run([url, ...token, '--write-baseline', file]);
    expect([written.exitCode, written.stderr]).toEqual([0, `wrote ${file}: 2 known to fail\n`]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      failing: ['body.no-lead', 'credential.missing'],
    });
    const again = await run([url, ...token, '--strict', '--baseline', file]);
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toContain('credential.missing (must, known)');
    const healed = await run([(await obedient()).url, ...token, '--baseline', file]);
    expect(healed.exitCode).toBe(0);
    expect(healed.stdout).toContain('pass now, and are in the baseline: credential.missing, body.no-lead');
    writeFileSync(file, '{"failing":[1]}');
    const damaged = await run([url, ...token, '--baseline', file]);
    expect([damaged.exitCode, damaged.stderr]).toEqual([
      6,
      expect.stringContaining("not one that this leads can read, at 'failing.0'"),
    ]);
  });

  test('a part of a run leaves what the baseline says of the rest', async () => {
    const file = join(freshHome(), 'baseline.json');
    writeFileSync(file, '{"version":1,"failing":["time.far","body.no-lead"]}');
    const { url } = await obedient();
    await run([url, ...token, '--only', 'body.no-lead', '--baseline', file, '--write-baseline', file]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ failing: ['time.far'] });
  });
});

describe('what is shown', () => {
  test('people see a line for what passes in a group, and for a failure what was expected, seen, to do, and curl', async () => {
    const { url } = await faulty();
    const { stdout } = await run([url, ...token], { terminal: 80, env: { ...env, NO_COLOR: '1' } });
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`checking ${url}`);
    expect(lines).toContain('✗ credential.missing (must): 4xx without the credential in its header');
    const at = lines.indexOf('✗ body.no-lead (should): 4xx to what is no JSON, and to JSON that is no lead');
    expect(lines[at + 1]).toMatch(
      /^ {4}it answered 500 to JSON that is cut off after \d+ms: \{"status":500\}$/,
    );
    expect(lines[at + 2]).toMatch(/^ {4}check that the body is an object with an id/);
    expect(lines.slice(at).find((line) => line.includes('curl'))).toMatch(
      /^ {4}curl -i http.* -H "x-webhook-token: \$LEADS_WEBHOOK_TOKEN" --data-binary '\{"id":/,
    );
    expect(lines.filter((line) => line.length > 80 && !line.includes('curl'))).toEqual([]);
    expect(stdout).toMatch(/\n\d+ passed, 2 failed \(1 must, 1 should\), \d warnings?, \d+ skipped in \S+\n/);
    expect(stdout).toMatch(
      /\d+ test leads were accepted: their ids begin with leads-check-\w{8}-\n\d+ passed, .* in [\d.]+m?s\n$/,
    );
    expect(stdout).not.toContain(secret);
  });

  test('a locale without other characters gets ASCII', async () => {
    const { url } = await obedient();
    const { stdout } = await run([url, ...token, '--only', 'credential'], { env: { ...env, LANG: 'C' } });
    expect(stdout).toMatch(/^ok credential {2}missing, wrong, doubled/m);
    expect(stdout).toMatch(/^[\x00-\x7f]*$/);
  });

  test('a terminal shows how far the run is', async () => {
    const { url } = await startReceiver('token', secret, () => ({
      answer: (response, status) => void setTimeout(() => response.writeHead(status).end(), 300),
    }));
    const { stderr } = await run([url, ...token, '--only', 'body.unicode'], { terminal: 80 });
    expect(stderr).toContain('1 of 2 probes');
  });

  test('the summary of --json is the last line, and lists the leads that were accepted', async () => {
    const receiver = await obedient();
    const { stdout } = await run([receiver.url, ...token, '--json']);
    const last = JSON.parse(/.*$/.exec(stdout.trim())?.[0] ?? '') as CheckSummary;
    expect(Object.keys(last)).toEqual(['type', 'target', 'pass', 'fail', 'warn', 'skip', 'accepted']);
    expect([...last.accepted].sort()).toEqual([...receiver.stored.keys()].sort());
  });

  test('a failing curl line sends what failed', async () => {
    const { url } = await faulty();
    const { failed, probes } = await check([url, ...token]);
    const { execa } = await import('execa');
    for (const name of failed) {
      const { curl = '', seen = null } = probes.find((one) => one.name === name) ?? {};
      const { stdout } = await execa('bash', { input: curl ?? '', env: { LEADS_WEBHOOK_TOKEN: secret } });
      expect([name, Number(/^HTTP\/1.1 (\d+)/.exec(stdout)?.[1])]).toEqual([name, seen?.status]);
    }
  });

  test('Ctrl-C ends it with 130, and says which leads were accepted until then', async () => {
    let requests = 0;
    const { url } = await startReceiver('token', secret, () => ({
      // The second request is never answered.
      before: () => (requests += 1) > 1,
    }));
    const live = startLeads(['check', url, ...token, '--only', 'body.unicode'], { env });
    await until(() => requests === 2);
    live.abort(new InterruptedError('SIGINT'));
    const { exitCode, stderr } = await live.done;
    expect([exitCode, stderr]).toEqual([
      130,
      expect.stringMatching(/^1 test lead was accepted: leads-check-/),
    ]);
  });
});
