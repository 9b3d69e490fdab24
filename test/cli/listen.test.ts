import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { authorityOf, type ListenProcess, listenProcess } from '../support/listen-process.ts';

const run = promisify(execFile);
const receiver = ['--token', 'secret', '--port', '0'];
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const open: (() => Promise<unknown>)[] = [];

async function start(...args: Parameters<typeof listenProcess>): Promise<ListenProcess> {
  const listener = await listenProcess(...args);
  open.push(() => listener.end('SIGKILL'));
  return listener;
}

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Delivers as a person would; the answer's body and status. */
async function curl(listener: ListenProcess, body: string, token = 'secret'): Promise<string> {
  const trust = ['--cacert', authorityOf(listener.home)];
  const { stdout } = await run('curl', [
    ...['--silent', '--max-time', '20', ...trust, '--write-out', ' %{http_code}'],
    ...['-H', `x-webhook-token: ${token}`, '-H', 'content-type: application/json', '-d', body, listener.url],
  ]);
  return stdout;
}

describe.skipIf(!hasCurl)('leads listen, by curl', () => {
  it('accepts, knows a duplicate, refuses a wrong token, and ends with 0 on Ctrl-C', async () => {
    const listener = await start(receiver);
    expect(await curl(listener, '{"id":"a"}')).toBe('{"status":"accepted","id":"a"} 200');
    expect(await curl(listener, '{"id":"a"}')).toBe('{"status":"duplicate","id":"a"} 200');
    expect(await curl(listener, '{"id":"a"}', 'wrong')).toMatch(/wrong_credential.* 401$/);
    expect(await listener.end('SIGINT')).toBe(0);
    expect(listener.stdout()).toMatch(/accepted[^]*duplicate[^]*rejected/);
    expect(listener.stderr()).toContain('1 accepted, 1 duplicate, 1 rejected');
  });

  it('runs the printed command as it stands', async () => {
    const env = { LEADS_WEBHOOK_TOKEN: 'secret' };
    const listener = await start(['--port', '0'], { env });
    await expect.poll(() => listener.stderr()).toContain('try it');
    const command = /try it +(curl .*)/.exec(listener.stderr())?.[1] ?? '';
    const { stdout } = await run('sh', ['-c', `${command} -s`], {
      env: { PATH: process.env['PATH'], ...env },
    });
    expect(stdout).toBe('{"status":"accepted","id":"try-1"}');
  });

  it('ends in order with 143 on SIGTERM, goes on after SIGHUP, and ends with 0 when the count is reached', async () => {
    const terminated = await start(receiver);
    terminated.child.kill('SIGHUP');
    await curl(terminated, '{"id":"behind"}');
    expect(await terminated.end('SIGTERM')).toBe(143);
    expect(terminated.stderr()).toContain('1 accepted');
    const counted = await start([...receiver, '--count', '1', '--for', '30s', '--json']);
    const ended = new Promise((resolve) => counted.child.on('close', resolve));
    await curl(counted, '{"id":"a"}');
    expect(await ended).toBe(0);
    const types = counted
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(['listening', 'delivery', 'summary']);
  });

  /** It prints a line for each delivery, and nothing before. */
  const onlyLeads = [...receiver, '--format', 'leads'];

  it('finishes the delivery when the reader of stdout is gone, then ends with 141', async () => {
    const listener = await start(onlyLeads);
    listener.child.stdout?.destroy();
    const ended = new Promise((resolve) => listener.child.on('close', resolve));
    expect(await curl(listener, '{"id":"a"}')).toBe('{"status":"accepted","id":"a"} 200');
    expect(await ended).toBe(141);
    expect(listener.stderr()).not.toContain(' at ');
  });

  it('ends on Ctrl-C although the reader of stdout stopped reading, with 8', async () => {
    const listener = await start(onlyLeads);
    listener.child.stdout?.pause();
    const file = join(listener.home, 'large.json');
    for (const id of ['a', 'b']) {
      writeFileSync(file, JSON.stringify({ id, text: 'x'.repeat(900_000) }));
      expect(await curl(listener, `@${file}`)).toMatch(/ 200$/);
    }
    const exited = new Promise((resolve) => listener.child.once('exit', resolve));
    listener.child.kill('SIGINT');
    expect(await exited).toBe(8);
    expect(listener.stderr()).toContain('its reader stopped reading');
  }, 20_000);

  it('ends with 8 when stdout is a full disk', async () => {
    const listener = await start([...receiver, '--format', 'events'], {
      through: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'],
    });
    expect(await new Promise((resolve) => listener.child.on('close', resolve))).toBe(8);
    expect(listener.stderr()).toContain('no space left on the device');
  });
});
