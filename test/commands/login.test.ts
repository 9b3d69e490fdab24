import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads, startLeads } from '../support/run.ts';

const key = 'sk_live_0987654321wxyz';
let sandbox: Sandbox;
let baseUrl = '';

beforeAll(async () => {
  sandbox = await startSandbox({ leads: 3, apiKeys: [key] }, { clock: new FakeClock() });
  baseUrl = sandbox.url;
});
afterAll(() => sandbox.close());

const stored = (home: string): unknown =>
  (JSON.parse(readFileSync(join(home, 'config', 'config.json'), 'utf8')) as { profiles: unknown }).profiles;

describe('leads login', () => {
  it('checks a piped key with one call and stores it for the origin', async () => {
    const home = freshHome();
    const run = await leads(['login', '--base-url', baseUrl], { home, stdin: `${key}\n` });
    expect(run).toEqual({ exitCode: 0, stdout: '', stderr: `key accepted; stored …wxyz for ${baseUrl}\n` });
    expect(stored(home)).toEqual({
      default: {
        'base-url': baseUrl,
        'api-key': key,
        'api-key-origin': baseUrl,
      },
    });
  });

  it('stores nothing when the service refuses the key', async () => {
    const home = freshHome();
    const run = await leads(['login', '--base-url', baseUrl], { home, stdin: 'sk_wrong_0000000000\n' });
    expect(run.exitCode).toBe(4);
    expect(run.stderr).toContain('The API key is not valid');
    expect(existsSync(join(home, 'config', 'config.json'))).toBe(false);
  });

  it('names the base URL in the hint where the key is refused or missing', async () => {
    const hint = `'leads login --base-url ${baseUrl}'`;
    const refused = await leads(['login', '--base-url', baseUrl], { stdin: 'sk_wrong_0000000000\n' });
    expect(refused.stderr).toContain(hint);
    expect((await leads(['list', '--base-url', baseUrl])).stderr).toContain(hint);
  });

  it('names what gave a base URL that cannot be reached', async () => {
    const closed = 'http://127.0.0.1:1';
    const stdin = `${key}\n`;
    const login = ['login', '--retries', '0'];
    expect((await leads([...login, '--base-url', closed], { stdin })).stderr).toContain('See --base-url\n');
    const variable = await leads(login, { stdin, env: { LEADS_BASE_URL: closed } });
    expect(variable.stderr).toContain('See LEADS_BASE_URL\n');
  });

  it.each(['/api/leads', '/api/'])('says to leave %s out of the base URL', async (path) => {
    const run = await leads(['login', '--base-url', baseUrl + path], { stdin: `${key}\n` });
    expect([run.exitCode, run.stderr]).toEqual([
      6,
      expect.stringContaining(`hint: leave ${path.replace(/\/$/, '')} out of the base URL`),
    ]);
  });

  it('asks on a terminal and does not show what is typed', async () => {
    const home = freshHome();
    const stdin = new PassThrough();
    const run = startLeads(['login'], { home, stdin, terminal: 80 });
    await expect.poll(() => run.stderr.text()).toContain('base URL');
    stdin.write(`${baseUrl}\r`);
    await expect.poll(() => run.stderr.text()).toContain('API key: ');
    stdin.write(`${key}\r`);
    const { exitCode, stderr } = await run.done;
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain(key);
    expect(stored(home)).toMatchObject({ default: { 'api-key': key } });
  });

  it('ends its line when the prompt is left with Ctrl-D', async () => {
    const stdin = new PassThrough();
    const run = startLeads(['login', '--base-url', baseUrl], { stdin, terminal: 80 });
    await expect.poll(() => run.stderr.text()).toContain('API key: ');
    stdin.write('\u0004');
    const { exitCode, stderr } = await run.done;
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^API key: \nerror: no API key was given\n/);
  });

  it('says that a port is too large, and which file of a key is empty', async () => {
    const large = await leads(['login', '--base-url', 'http://127.0.0.1:99999/x'], { stdin: 'k' });
    expect(large).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("99999/x' names a port above 65535\n") as string,
    });
    const empty = await leads(['login', '--base-url', baseUrl, '--api-key-file', '/dev/null']);
    expect(empty).toMatchObject({ exitCode: 3, stderr: 'error: the API key in /dev/null is empty\n' });
  });

  it('takes the line end of a key in the environment as none, and refuses one that no header can hold', async () => {
    const asked = (value: string) =>
      leads(['list', '--json'], { env: { LEADS_BASE_URL: baseUrl, LEADS_API_KEY: value } });
    expect(await asked(`${key}\n`)).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await asked('two words');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('LEADS_API_KEY holds white space');
    expect(stderr).not.toContain('two words');
  });

  it('makes no file to remove what is not there', async () => {
    const home = freshHome();
    expect((await leads(['logout'], { home })).exitCode).toBe(0);
    expect(existsSync(join(home, 'config', 'config.json'))).toBe(false);
  });

  it('reads a key file, keeps profiles apart, and logs out of one', async () => {
    const home = freshHome();
    writeFileSync(join(home, 'key.txt'), `${key}\n`);
    const file = join(home, 'key.txt');
    await leads(['login', '--base-url', baseUrl, '--api-key-file', file], { home });
    const work = ['--profile', 'work'];
    await leads(['login', ...work, '--base-url', baseUrl, '--api-key-file', file, '--no-check'], { home });
    const out = await leads(['logout', ...work], { home });
    expect(out).toMatchObject({ exitCode: 0, stderr: "removed the API key in profile 'work'\n" });
    expect(stored(home)).toEqual({
      default: {
        'base-url': baseUrl,
        'api-key': key,
        'api-key-origin': baseUrl,
      },
      work: { 'base-url': baseUrl },
    });
  });

  it('leaves a command that gives a key with its origin, and says how to remove it from the profile', async () => {
    const home = freshHome();
    const work = ['--profile', 'work'];
    await leads(['config', 'set', 'base-url', baseUrl, ...work], { home });
    await leads(['config', 'set', 'api-key-command', '["print-key"]', ...work], { home });
    const before = stored(home);
    const { stderr } = await leads(['logout', ...work], { home });
    expect(stderr).toContain("'leads config unset api-key-command --profile work'");
    expect(stored(home)).toEqual(before);
  });

  it.each([
    ['', 2],
    ['two words\n', 2],
    ['k\u00e9y\n', 2],
  ])('refuses %j as a key', async (stdin, code) => {
    expect((await leads(['login', '--base-url', baseUrl, '--no-check'], { stdin })).exitCode).toBe(code);
  });

  it('sends nothing over plain HTTP but to loopback', async () => {
    const run = await leads(['login', '--base-url', 'http://leads.example.com'], { stdin: key });
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('unencrypted');
  });
});
