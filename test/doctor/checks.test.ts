import {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAuthority, checkPort } from '../../src/doctor/receiver-setup.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import { InterruptedError } from '../../src/errors.ts';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { FakeClock } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { freshHome, homeWith, leads, startLeads } from '../support/run.ts';
import { scripted } from '../support/service.ts';
import { diagnose, sandboxWith } from './support.ts';
import { openServer } from '../support/open-server.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxWith({ leads: 120, maxLimit: 50 });
});
afterAll(() => sandbox.close());

const listening = (home: string, port: number) =>
  startLeads(['listen', '--token', 'secret', '--port', String(port)], {
    home,
    clock: new FakeClock(Date.now()),
  });

describe('leads doctor', () => {
  it('passes where everything is in order, and changes nothing', async () => {
    const port = String(await freePort());
    const found = await diagnose(sandbox, '--port', port);
    expect(found).toMatchObject({ exitCode: 0, dialect: {} });
    const results = Object.fromEntries(
      found.lines.flatMap(({ name, result }) => (name ? [[name, result]] : [])),
    );
    expect(results).toMatchObject({
      'machine.config': 'pass',
      'service.dns': 'pass',
      'service.tls': 'skip',
      'service.key': 'pass',
      'service.clock': 'pass',
      'dialect.envelope': 'pass',
      'dialect.pagination': 'pass',
      'dialect.page-size': 'pass',
      'dialect.status': 'pass',
      'dialect.category': 'pass',
      'dialect.since': 'skip',
      'receiver.inbox': expect.stringMatching(/pass|warn/) as string,
      'receiver.port': 'pass',
      'receiver.authority': 'pass',
    });
    expect(found.lines.at(-1)).toMatchObject({ type: 'summary', fail: 0, learnt: 0, written: null });
  });

  it('prints nothing of what is in order under --quiet', async () => {
    const doctor = ['doctor', '--port', String(await freePort())];
    const [whole, quiet] = [await leads(doctor, {}), await leads([...doctor, '-q'], {})];
    expect([whole.exitCode, quiet.exitCode]).toEqual([0, 0]);
    expect(whole.stdout).toMatch(/^\S+ config /m);
    expect(quiet.stdout).not.toMatch(/^\S+ (config|authority|port) /m);
    // The disk that the tests run on may be worth a warning.
    if (whole.stdout.includes(' 0 warnings')) expect(quiet.stdout).toBe('');
  });

  it('skips what needs the service without a key or a base URL, with the hint how to log in', async () => {
    const run = await leads(['doctor', '--json'], {});
    expect(run.exitCode).toBe(0);
    const lines = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name?: string; result: string; hint: string });
    const pull = lines.filter(({ name }) => /^(service|dialect)\./.test(name ?? ''));
    expect(pull.length).toBeGreaterThan(10);
    for (const { result, hint } of pull)
      expect([result, hint]).toEqual(['skip', expect.stringContaining('leads login')]);
  });

  it('fails where the service refuses the key, and never shows the key', async () => {
    const key = 'sk_live_0987654321wrong';
    const found = await diagnose({ url: sandbox.url, key }, '--learn');
    expect(found.exitCode).toBe(7);
    expect(found.said('service.key')).toMatch(/^fail: .*hint: .*leads login/);
    expect(found.check('dialect.pagination')).toMatchObject({ result: 'skip' });
    expect(found.stdout + found.stderr).not.toContain(key);
  });

  it('fails for a key of another origin, and checks the way to the service', async () => {
    const key = { 'api-key': 'k', 'api-key-origin': 'https://other.example' };
    const home = homeWith({ 'base-url': 'https://localhost:1', ...key });
    const { exitCode, stdout } = await leads(['doctor', '--json'], { home });
    expect(exitCode).toBe(7);
    expect(stdout).toMatch(/"service.dns","result":"pass"/);
    expect(stdout).toMatch(/"service.tls","result":"fail"/);
    expect(stdout).toMatch(/"service.key","result":"fail","detail":"the stored API key is for https:..other/);
    expect(stdout).toMatch(/"service.clock","result":"skip"/);
  });

  it.each([
    ['LEADS_BASE_URL', []],
    ['--base-url', ['--base-url', 'http://127.0.0.1:1']],
  ])('fails where nothing answers at the base URL of %s, and names that', async (source, words) => {
    const found = await diagnose({ url: `http://127.0.0.1:${await freePort()}` }, ...words);
    expect(found.exitCode).toBe(7);
    expect(found.said('service.key')).toMatch(new RegExp(`^fail: .*refused.*See ${source}$`, 's'));
  });

  it('fails where the answer holds no leads, and names the setting', async () => {
    const service = await scripted((_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
    });
    const found = await diagnose({ url: service.url });
    await service.close();
    expect(found.exitCode).toBe(7);
    expect(found.said('dialect.envelope')).toMatch(/^fail: .*hint: .*api\.path/);
  });

  it('fails for a configuration that cannot be read, and checks the rest', async () => {
    const home = freshHome();
    mkdirSync(join(home, 'config'), { mode: 0o700 });
    writeFileSync(join(home, 'config', 'config.json'), 'no json', { mode: 0o600 });
    const run = await leads(['doctor', '--json'], { home });
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toContain('is not JSON');
    expect(run.stdout).toContain('"receiver.port"');
  });

  it('warns where a delivered lead is identified by another field than a listed one', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'webhook.id', 'uuid'], { home });
    const differing = await diagnose({ url: sandbox.url, home });
    expect(differing.said('receiver.id')).toMatch(
      /^warn: .*hint: .*config set webhook.id id.*config set api.id uuid/,
    );
    await leads(['config', 'set', 'api.id', 'uuid'], { home });
    expect((await diagnose({ url: sandbox.url, home })).check('receiver.id')).toBeUndefined();
  });

  it('says that others could read the configuration, which it closes to them', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'timeout', '20s'], { home });
    const file = join(home, 'config', 'config.json');
    chmodSync(file, 0o644);
    const found = await diagnose({ url: sandbox.url, home });
    expect(found.said('machine.config')).toMatch(/^warn: .*0644/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('closes the file behind a link that is ours, and says so of one that it cannot close', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'timeout', '20s'], { home });
    const [file, target] = [join(home, 'config', 'config.json'), join(home, 'target.json')];
    renameSync(file, target);
    symlinkSync(target, file);
    chmodSync(target, 0o644);
    expect((await leads(['config', 'get', 'timeout'], { home })).stdout).toBe('20s\n');
    expect(statSync(target).mode & 0o777).toBe(0o600);
    chmodSync(target, 0o640);
    const checked = async () => (await diagnose({ url: sandbox.url, home })).check('machine.config');
    const was = {
      result: 'warn',
      detail: expect.stringContaining('was readable by others (0640)') as string,
    };
    expect(await checked()).toMatchObject(was);
    expect(await checked()).toMatchObject({ result: 'pass' });
    if (userInfo().uid !== 0) return;
    chownSync(target, 12345, 12345);
    chmodSync(target, 0o644);
    const is = { result: 'warn', detail: expect.stringContaining('is readable by others (0644)') as string };
    expect(await checked()).toMatchObject(is);
    expect(statSync(target).mode & 0o777).toBe(0o644);
  });

  it('warns of a clock that differs from the one of the service, and fails where that breaks signatures', async () => {
    for (const [ahead, result] of [
      [60_000, 'warn'],
      [3_600_000, 'fail'],
    ] as const) {
      const service = await scripted((_, response) => {
        response.setHeader('date', new Date(Date.now() + ahead).toUTCString());
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
      });
      const found = await diagnose({ url: service.url });
      await service.close();
      expect(found.check('service.clock')).toMatchObject({
        result,
        detail: expect.stringContaining('behind') as string,
      });
    }
  });
});

describe('the receiving side', () => {
  it('says of a port that a listen has that it is taken, and passes its inbox and authority', async () => {
    const home = freshHome();
    const port = await freePort();
    const run = listening(home, port);
    await expect.poll(() => run.stderr.text()).toContain('listening');
    const found = await diagnose({ url: sandbox.url, home }, '--port', String(port));
    run.abort(new InterruptedError('SIGINT'));
    await run.done;
    expect(found.said('receiver.port')).toMatch(/^warn: .*leads listen/);
    // Tests run in memory or on a disk.
    expect(found.check('receiver.inbox')).toMatchObject({
      detail: expect.stringMatching(/inbox\.db| is on a tmpfs/) as string,
    });
    expect(found.check('receiver.authority')?.result).toBe('pass');
  });

  it('warns where another program has the port', async () => {
    const server = createServer((socket) => socket.end('hello\n'));
    const { port } = await openServer(server);
    const found = await diagnose(sandbox, '--port', String(port));
    server.close();
    expect(found.said('receiver.port')).toMatch(/^warn: .*hint: .*--port/);
  });

  it('writes an IPv6 address in brackets', async () => {
    expect((await checkPort('::1', 0)).detail).toContain('[::1]:0');
  });

  it('fails for an inbox that is no inbox, and leaves the file as it is', async () => {
    const home = freshHome();
    const file = join(home, 'other.db');
    writeFileSync(file, 'something else, and long enough to be looked at as a database file '.repeat(20));
    const found = await diagnose({ url: sandbox.url, home }, '--inbox', file);
    expect(found.exitCode).toBe(7);
    expect(found.said('receiver.inbox')).toMatch(/^fail: .*not an inbox/);
  });

  it('takes an empty file for an inbox that listen will make', async () => {
    const home = freshHome();
    const file = join(home, 'empty.db');
    writeFileSync(file, '');
    const found = await diagnose({ url: sandbox.url, home }, '--inbox', file);
    expect(found.check('receiver.inbox')).toMatchObject({
      result: expect.stringMatching(/pass|warn/) as string,
    });
    expect(statSync(file).size).toBe(0);
  });
});

describe('the local authority', () => {
  const year = 365 * 86_400_000;
  const nothing = (): void => undefined;

  it.each<[string, number, (caPath: string) => void, string, string]>([
    ['that is damaged', 0, (path) => writeFileSync(path, 'no certificate'), 'fail', 'cannot be used'],
    ['without its key', 0, (path) => rmSync(join(dirname(path), 'ca-key.pem')), 'fail', 'cannot be used'],
    ['that is not valid yet', 10 * year, nothing, 'fail', 'is valid from'],
    ['that listen replaces soon', -9.5 * year, nothing, 'warn', 'is valid until'],
  ])('is told of %s', async (_, age, spoil, result, words) => {
    const dataDir = join(freshHome(), 'data');
    const { caPath } = await ensureAuthority(dataDir, new FakeClock(Date.now() + age));
    spoil(caPath);
    const check = await checkAuthority(dataDir, Date.now());
    expect(check).toMatchObject({ result, detail: expect.stringContaining(words) as string });
    if (words === 'cannot be used') expect(check.hint).toContain(dirname(caPath));
  });
});

describe('the way to the service', () => {
  it('shows what the certificate is, and fails where it is not trusted', async () => {
    const home = freshHome();
    const authority = await ensureAuthority(join(home, 'data'), new FakeClock(Date.now()));
    const secure = createSecureServer({ cert: authority.certPem, key: authority.keyPem }, (socket) => {
      const behind = connect(sandbox.port, '127.0.0.1').on('error', () => undefined);
      socket.on('error', () => undefined);
      socket.pipe(behind).pipe(socket);
    });
    const secureAt = await openServer(secure);
    const url = `https://localhost:${secureAt.port}`;
    const trusting = await diagnose({ url, home });
    const other = await diagnose({ url });
    secure.close();
    expect(trusting.said('service.tls')).toMatch(/^pass: TLSv1\.3, issued by .*, \d+ days left; hint: $/);
    expect(trusting.check('service.key')?.result).toBe('pass');
    expect(other.said('service.tls')).toMatch(/^fail: .*hint: .*NODE_EXTRA_CA_CERTS/);
    expect(other.exitCode).toBe(7);
  });

  it('fails for a host that there is not', async () => {
    const found = await diagnose({ url: 'https://leads.invalid' });
    expect(found.check('service.dns')).toMatchObject({ result: 'fail' });
    expect(found.exitCode).toBe(7);
  });
});

describe('the report for people', () => {
  const report = async (width: number, env: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    leads(['doctor', ...words], { terminal: width, env: { LANG: 'C.UTF-8', ...env } });

  it('fits 80 columns, in colour or not, and says a reason once that several checks share', async () => {
    const account = { LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: 'sandbox-key' };
    for (const env of [{ ...account }, { ...account, NO_COLOR: '1' }, { ...account, LANG: 'C' }]) {
      const { stdout } = await report(80, env, '--learn');
      const lines = stdout.replace(/\u001b\[[\d;]*m/g, '').split('\n');
      const tooLong = lines.filter((line) => line.length > 80 && line.trim().includes(' '));
      expect(tooLong.filter((line) => !line.includes('/'))).toEqual([]);
      expect(lines.find((line) => line.includes('api.params.limit'))).toBe('  api.params.limit limit');
      expect(stdout).not.toContain('undefined');
    }
    const { stdout } = await report(80, { NO_COLOR: '1' });
    expect(stdout).toContain('- dns, tls, key, clock: no base URL is set\n');
    expect(stdout.match(/leads login/g)).toHaveLength(2);
  });

  it('draws nothing of what the service sends that could drive the terminal', async () => {
    const hostile = '\u001b[2J\u202e';
    const service = await scripted((_, response) => {
      const lead = (i: number) => ({
        id: `${i}`,
        status: hostile + String(i % 2),
        category: hostile,
        createdAt: hostile,
      });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ [`da${hostile}ta`]: Array.from({ length: 9 }, (_unused, i) => lead(i)) }),
      );
    });
    const env = { LEADS_BASE_URL: service.url, LEADS_API_KEY: 'sandbox-key', NO_COLOR: '1' };
    const shown = await report(80, env, '--learn');
    const json = await report(80, env, '--json');
    await service.close();
    for (const { stdout, stderr } of [shown, json]) {
      expect(stdout + stderr).not.toContain('\u001b[2J');
      expect(stdout + stderr).not.toContain('\u202e');
    }
  });
});
