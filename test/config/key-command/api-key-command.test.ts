import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runKeyCommand } from '../../../src/config/key-command.ts';
import { InterruptedError } from '../../../src/errors.ts';
import { freshHome, leads, startLeads } from '../../support/run.ts';
import { scriptedService, type ScriptedService } from '../../support/scripted-service.ts';
import { until } from '../../support/until.ts';

const open: ScriptedService[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

/** A service that takes the keys of `accepted`, and lists one lead more each time. */
async function serviceOf(accepted: Set<string>): Promise<ScriptedService> {
  let count = 0;
  const service = await scriptedService(({ headers }, response) => {
    const isKnown = accepted.has((headers.authorization ?? '').replace('Bearer ', ''));
    if (isKnown) count += 1;
    const data = Array.from({ length: count }, (_, i) => ({ id: `${count - i}`, createdAt: new Date() }));
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? { data, has_more: false } : { error: 'expired' }));
  });
  open.push(service);
  return service;
}

async function homeWith(command: readonly string[], url: string): Promise<string> {
  const home = freshHome();
  await leads(['config', 'set', 'base-url', url], { home });
  const set = await leads(['config', 'set', 'api-key-command', JSON.stringify(command)], { home });
  expect(set).toMatchObject({ exitCode: 0, stderr: '' });
  return home;
}

/** Appends a line to `log` each time it runs, and prints the key that `file` holds. */
const counted = (file: string, log: string): string[] => ['sh', '-c', 'echo run >>"$1"; cat "$0"', file, log];

const receive = 'listen --token receiver-token-1234 --port 0 --retries 0 --backfill 24h'.split(' ');

const runs = (log: string): number =>
  existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;

describe('api-key-command', () => {
  it('gives the key, without a shell', async () => {
    const service = await serviceOf(new Set(['key-$(id)-`x`']));
    const home = await homeWith(['printf', '%s\\n', 'key-$(id)-`x`'], service.url);
    const run = await leads(['list', '--json'], { home });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(service.asked).toHaveLength(1);
  });

  it('says where the key is from that the service refuses: exit 4', async () => {
    const service = await serviceOf(new Set());
    const log = join(freshHome(), 'log');
    const home = await homeWith(['sh', '-c', 'echo run >>"$0"; echo old-key-1234', log], service.url);
    const refused = await leads(['list'], { home });
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toMatch(
      /refused the API key \(401\): expired\nhint: it is what api-key-command printed/,
    );
    expect([runs(log), service.asked.length]).toEqual([1, 1]);
  });

  it('runs in the rounds of a receiver, which listens meanwhile and takes a key that comes later', async () => {
    const service = await serviceOf(new Set(['late-key-1234']));
    const [file, log] = [join(freshHome(), 'key'), join(freshHome(), 'log')];
    const home = await homeWith(counted(file, log), service.url);
    const run = startLeads([...receive, '--backfill-every', '1s'], { home });
    await until(() => runs(log) > 1);
    expect(run.stderr.text()).toContain('the backfill ended early');
    expect(service.asked).toHaveLength(0);
    writeFileSync(file, 'late-key-1234\n');
    await until(() => service.asked.length > 1);
    run.abort(new InterruptedError('SIGINT'));
    await run.done;
    expect(run.stderr.text()).toContain('the backfill works again');
  });

  it.each([
    ['fails', 'false'],
    ['is not there', '/no/such/program'],
    ['no file can be', join(process.execPath, 'x')],
  ])(
    'that %s in the only round of a receiver keeps no delivery away, and ends no run with 0',
    async (_, program) => {
      const run = startLeads(receive, { home: await homeWith([program], 'http://127.0.0.1:9') });
      await until(() => run.stderr.text().includes('the backfill ended early'));
      run.abort(new InterruptedError('SIGINT'));
      expect((await run.done).exitCode).toBe(3);
    },
  );

  it.each<[string, string[], RegExp]>([
    ['fails', ['sh', '-c', 'echo key; echo "no agent" >&2; exit 3'], /gave no key: exit 3: no agent\n/],
    ['is killed', ['sh', '-c', 'kill -9 $$'], /gave no key: ended by SIGKILL\n/],
    ['prints nothing', ['true'], /gave no key: what it printed is empty, or holds characters/],
    [
      'prints two lines',
      ['printf', 'a\\nb\\n'],
      /gave no key: what it printed is empty, or holds characters/,
    ],
    ['prints without end', ['yes'], /gave no key: it cannot be run: stdout maxBuffer length exceeded\n/],
    [
      'does not exist',
      ['/no/such/program', 'secret-argument'],
      /gave no key: it cannot be run: there is no such program\n/,
    ],
  ])('one that %s is exit 3', async (_, command, message) => {
    const service = await serviceOf(new Set());
    const home = await homeWith(command, service.url);
    const run = await leads(['list'], { home });
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toContain('secret-argument');
    expect(service.asked).toHaveLength(0);
  });

  it('one that hangs is ended', async () => {
    const context = { env: process.env, signal: new AbortController().signal };
    const stubborn = ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'];
    await expect(runKeyCommand(stubborn, context, 100)).rejects.toMatchObject({
      code: 'config',
      message: 'api-key-command gave no key: it did not end within 100ms',
    });
  });

  it('one that takes long is said to be waited for', async () => {
    const home = await homeWith(['sleep', '100'], (await serviceOf(new Set())).url);
    const live = startLeads(['list'], { home });
    await until(() => live.stderr.text() === 'note: waiting for api-key-command\n');
    live.abort(new InterruptedError('SIGINT'));
    expect((await live.done).exitCode).toBe(130);
  });

  it('is bound to the origin that it was stored for, and runs for no other', async () => {
    const service = await serviceOf(new Set(['k']));
    const other = await serviceOf(new Set(['k']));
    const log = join(freshHome(), 'log');
    const home = await homeWith(['sh', '-c', 'echo run >>"$0"; echo k', log], service.url);
    const run = await leads(['list', '--base-url', other.url], { home });
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain(
      `api-key-command is for ${service.url}, and its key is not sent to ${other.url}`,
    );
    expect([runs(log), other.asked.length]).toEqual([0, 0]);
    const unbound = await leads(['config', 'set', 'api-key-command', '["true"]'], {});
    expect(unbound.exitCode).toBe(3);
  });

  it('gives way to a key from the environment', async () => {
    const service = await serviceOf(new Set(['env-key']));
    const log = join(freshHome(), 'log');
    const home = await homeWith(['sh', '-c', 'echo run >>"$0"; echo k', log], service.url);
    expect((await leads(['list'], { home, env: { LEADS_API_KEY: 'env-key' } })).exitCode).toBe(0);
    expect(runs(log)).toBe(0);
  });

  it('does not stand beside api-key in one profile: exit 2', async () => {
    const service = await serviceOf(new Set(['k']));
    const home = await homeWith(['echo', 'k'], service.url);
    const set = await leads(['config', 'set', 'api-key', '-'], { home, stdin: 'k' });
    const login = await leads(['login'], { home, stdin: 'k' });
    for (const run of [set, login]) {
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toMatch(
        /^error: api-key and api-key-command do not go together in one profile\nhint: /,
      );
    }
    const file = join(home, 'config', 'config.json');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"api-key-command"', '"api-key": "k", "api-key-command"'),
    );
    expect((await leads(['list'], { home })).exitCode).toBe(2);
    await leads(['config', 'unset', 'api-key'], { home });
    expect((await leads(['list'], { home })).exitCode).toBe(0);
  });

  it.each(['pass show leads', '[]', '[""]', '["a",1]', '{"a":1}', '"x"'])('is no list: %s', async (value) => {
    const home = await homeWith(['true'], 'http://127.0.0.1:9');
    const run = await leads(['config', 'set', 'api-key-command', value], { home });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('is not a JSON array of a program and its arguments');
    const file = join(home, 'config', 'config.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\[\s*"true"\s*\]/, '"true"'));
    expect((await leads(['list'], { home })).exitCode).toBe(3);
  });

  it('is shown by config list, config profiles and doctor', async () => {
    const service = await serviceOf(new Set(['k']));
    const home = await homeWith(['echo', 'k'], service.url);
    const list = await leads(['config', 'list', '--json'], { home });
    expect(JSON.parse(list.stdout)).toContainEqual({
      key: 'api-key-command',
      value: '["echo","k"]',
      from: 'profile',
    });
    expect((await leads(['config', 'profiles'], { home })).stdout).toMatch(/command\n$/);
    expect((await leads(['config', 'get', 'api-key-command'], { home })).stdout).toBe('["echo","k"]\n');
    const doctor = await leads(['doctor', '--json'], { home });
    expect(doctor.stdout).toContain('"name":"service.key","result":"pass"');
    const failing = await homeWith(['false'], service.url);
    const sick = await leads(['doctor', '--json'], { home: failing });
    expect(sick.exitCode).toBe(7);
    expect(sick.stdout).toContain('api-key-command gave no key: exit 1');
  });
});
