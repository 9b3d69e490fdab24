import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findPaths } from '../../src/config/directories.ts';
import { binary, environment } from '../support/listen-process.ts';
import { mountedDisk } from '../support/mounted-disk.ts';
import { freshHome, homeWith, leads } from '../support/run.ts';
import { asStranger, canBeStranger, stranger } from '../support/stranger.ts';

const configure = (home: string, setting: string, value: string) =>
  execa(process.execPath, [binary, 'config', 'set', setting, value], {
    env: environment(home),
    reject: false,
    stdin: 'ignore',
  });

it.each(['a directory', 'below a file'])('says what is wrong where the configuration is %s', async (kind) => {
  const home = freshHome();
  if (kind === 'a directory')
    mkdirSync(join(home, 'config', 'config.json'), { recursive: true, mode: 0o700 });
  else writeFileSync(join(home, 'config'), '');
  const { exitCode, stderr } = await leads(['list'], { home });
  expect(exitCode).toBe(3);
  const reason = kind === 'a directory' ? 'it is a directory' : 'a part of its path is not a directory';
  expect(stderr).toMatch(new RegExp(`config.json: ${reason}\nhint: .*LEADS_CONFIG_DIR\n$`));
});

it('names the choices of a setting that has another value in the file', async () => {
  const { exitCode, stderr } = await leads(['list'], { home: homeWith({ api: { pagination: 'cursr' } }) });
  expect(exitCode).toBe(3);
  expect(stderr).toContain(
    "is not valid at 'profiles.default.api.pagination', which must be one of auto, link,",
  );
});

it('leaves no draft of a lock where the disk is full', async ({ skip }) => {
  const place = mountedDisk('4k');
  if (place === undefined) return skip('mounting is not allowed here');
  writeFileSync(join(place, 'other'), 'x');
  const { exitCode, stderr } = await leads(['export', '--bookmark', join(place, 'bm'), '-o', 'x.ndjson'], {
    env: { LEADS_BASE_URL: 'http://127.0.0.1:1', LEADS_API_KEY: 'k' },
  });
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining('no space left')]);
  expect(readdirSync(place)).toEqual(['other']);
});

it('the configuration behind a link is replaced, and the link stays', async () => {
  const home = homeWith({});
  const target = join(home, 'dotfiles', 'leads.json');
  mkdirSync(join(home, 'dotfiles'));
  const other = freshHome();
  mkdirSync(join(other, 'config'), { mode: 0o700 });
  writeFileSync(target, '{}', { mode: 0o600 });
  symlinkSync(target, join(other, 'config', 'config.json'));
  expect((await configure(other, 'retries', '3')).exitCode).toBe(0);
  expect(readFileSync(target, 'utf8')).toContain('"retries": 3');
  expect(readdirSync(join(home, 'dotfiles'))).toEqual(['leads.json']);
});

it.for([
  ['a configuration behind a link', true],
  ['a configuration that is mounted itself', false],
] as const)(
  '%s is read where nothing can close it, and doctor says that it is open',
  async ([, isLink], { skip }) => {
    const home = freshHome();
    const config = join(home, 'config');
    const place = isLink ? join(home, 'mounted') : config;
    const file = join(place, isLink ? 'leads.json' : 'config.json');
    mkdirSync(place);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', place]).status !== 0) {
      return skip('mounting is not allowed here');
    }
    onTestFinished(() => void spawnSync('umount', ['-l', place]));
    const content = '{"version":1,"profiles":{"default":{"retries":3,"base-url":"http://127.0.0.1:1"}}}';
    writeFileSync(file, content, { mode: 0o644 });
    expect(spawnSync('mount', ['-o', 'remount,ro', place]).status).toBe(0);
    if (isLink) {
      mkdirSync(config, { mode: 0o700 });
      symlinkSync(file, join(config, 'config.json'));
    }
    const run = (...words: string[]) =>
      execa(process.execPath, [binary, ...words], { env: environment(home), reject: false, stdin: 'ignore' });
    expect(await run('config', 'get', 'retries')).toMatchObject({ exitCode: 0, stdout: '3', stderr: '' });
    const { stdout } = await run('doctor', '--json', '--retries', '0');
    expect(stdout).toContain('is readable by others (0644), and cannot be closed from here');
  },
);

it.runIf(userInfo().uid === 0)('the configuration that root changes stays whose it was', async () => {
  const home = homeWith({});
  const file = join(home, 'config', 'config.json');
  chownSync(file, 12345, 12346);
  expect((await configure(home, 'retries', '3')).exitCode).toBe(0);
  expect(statSync(file)).toMatchObject({ uid: 12345, gid: 12346 });
});

it('the configuration is read and changed in a container whose user has no name', async ({ skip }) => {
  const container = ['--user', '--map-user=54321', '--map-group=54321'];
  if (spawnSync('unshare', [...container, 'true']).status !== 0)
    return skip('containers are not allowed here');
  const home = homeWith({});
  const inContainer = (...words: string[]) =>
    execa('unshare', [...container, process.execPath, binary, 'config', ...words], {
      env: environment(home),
      reject: false,
      stdin: 'ignore',
    });
  expect(await inContainer('set', 'retries', '3')).toMatchObject({ exitCode: 0 });
  expect(await inContainer('get', 'retries')).toMatchObject({ exitCode: 0, stdout: '3' });
});

it('an empty HOME names no directory: that of passwd counts, if any', async ({ skip }) => {
  const path = (...before: string[]) =>
    execa('env', ['HOME=', ...before, process.execPath, binary, 'config', 'path'], {
      env: { PATH: process.env['PATH'] },
      extendEnv: false,
      reject: false,
      cwd: freshHome(),
    });
  const { configDir } = findPaths({ HOME: userInfo().homedir }, process.platform);
  expect((await path()).stdout).toBe(join(configDir, 'config.json'));
  const container = ['unshare', '--user', '--map-user=54321'];
  if (spawnSync('unshare', [...container.slice(1), 'true']).status !== 0)
    return skip('containers are not allowed here');
  const { exitCode, stderr } = await path(...container);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('there is no home directory')]);
});

const runAsStranger = (home: string, ...words: string[]) => {
  const [command = '', ...rest] = [...asStranger, process.execPath, binary, ...words];
  return execa(command, rest, { env: environment(home), reject: false, stdin: 'ignore' });
};

describe.runIf(canBeStranger)('root', () => {
  it('links to the directory of a unit of systemd', async () => {
    const home = freshHome();
    const own = join(home, 'private');
    mkdirSync(own, { mode: 0o755 });
    chownSync(own, stranger, stranger);
    symlinkSync(own, join(home, 'config'));
    expect(await runAsStranger(home, 'config', 'set', 'retries', '3')).toMatchObject({ exitCode: 0 });
    expect(await runAsStranger(home, 'config', 'get', 'retries')).toMatchObject({ exitCode: 0, stdout: '3' });
    expect(statSync(join(own, 'config.json'))).toMatchObject({ uid: stranger, mode: 0o100600 });
    lchownSync(join(home, 'config'), stranger + 1, stranger + 1);
    const { exitCode, stderr } = await runAsStranger(home, 'config', 'get', 'retries');
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('belongs to another user')]);
  });

  it.for([0o644, 0o440])('links to a file of Kubernetes, of mode %o', async (mode) => {
    const home = freshHome();
    const place = join(home, 'config');
    mkdirSync(join(place, '..2026'), { recursive: true });
    const file = join(place, '..2026', 'config.json');
    writeFileSync(file, '{"version":1,"profiles":{"default":{"retries":3}}}');
    chmodSync(file, mode);
    symlinkSync('..2026', join(place, '..data'));
    symlinkSync('..data/config.json', join(place, 'config.json'));
    const run = await runAsStranger(home, 'config', 'get', 'retries');
    expect(run).toMatchObject({ exitCode: 0, stdout: '3', stderr: '' });
    const { stdout } = await runAsStranger(
      home,
      'doctor',
      '--json',
      '--base-url',
      'http://127.0.0.1:1',
      '--retries',
      '0',
    );
    expect(stdout).toContain(`readable by others (0${mode.toString(8)}), and cannot be closed from here`);
  });
});
