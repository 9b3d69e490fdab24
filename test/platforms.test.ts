import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from './support/clock.ts';
import { opener } from '../src/commands/inspect/run.ts';
import { findPaths } from '../src/config/directories.ts';
import { databaseLocation } from '../src/inbox/postgres/database-location.ts';
import { openDatabase } from '../src/inbox/sqlite/open-database.ts';
import { homeWith, leads } from './support/run.ts';

// The rows of docs/operating.md, "Windows and macOS", that the name of the system decides.

const env = {
  HOME: '/home/ada',
  APPDATA: '/appdata/roaming',
  LOCALAPPDATA: '/appdata/local',
  DISPLAY: ':0',
};

it.each([
  ['linux', '/home/ada/.config/leads', '/home/ada/.local/share/leads'],
  ['darwin', '/home/ada/Library/Preferences/leads', '/home/ada/Library/Application Support/leads'],
  ['win32', '/appdata/roaming/leads/Config', '/appdata/local/leads/Data'],
])('%s keeps settings in %s and inboxes in %s', (platform, configDir, dataDir) => {
  expect(findPaths(env, platform)).toEqual({ configDir, dataDir });
  const xdg = { ...env, XDG_CONFIG_HOME: '/xdg/config', XDG_DATA_HOME: '/xdg/data' };
  const moved = { configDir: '/xdg/config/leads', dataDir: '/xdg/data/leads' };
  expect(findPaths(xdg, platform)).toEqual(platform === 'linux' ? moved : { configDir, dataDir });
});

it('without a home directory, other places have to be named', () => {
  const nowhere = () => undefined;
  expect(() => findPaths({}, 'linux', nowhere)).toThrow(
    expect.objectContaining({ hint: 'set HOME, or both LEADS_CONFIG_DIR and LEADS_DATA_DIR' }),
  );
  expect(() => findPaths({ LEADS_DATA_DIR: '/data' }, 'linux', nowhere)).toThrow();
  const named = { LEADS_CONFIG_DIR: '/config', LEADS_DATA_DIR: '/data' };
  expect(findPaths(named, 'linux', nowhere)).toEqual({ configDir: '/config', dataDir: '/data' });
});

it.each([
  ['linux', { path: '/home/ada/.pgpass', hasMode: true }],
  ['darwin', { path: '/home/ada/.pgpass', hasMode: true }],
  ['win32', { path: '/appdata/roaming/postgresql/pgpass.conf', hasMode: false }],
])('%s has passwords of PostgreSQL in %j', (platform, file) => {
  const { passwords } = databaseLocation('postgres://localhost/leads', {
    env,
    platform,
    warn: () => undefined,
  });
  expect(passwords.file).toEqual(file);
});

it.each([
  ['linux', 'xdg-open'],
  ['darwin', 'open'],
  ['win32', 'explorer.exe'],
])('%s opens a page with %s', (platform, program) => {
  expect(opener({ platform, env })).toBe(program);
  expect(opener({ platform, env: {} })).toBe(platform === 'linux' ? undefined : program);
});

describe('permissions', () => {
  it.each([
    ['linux', 'was readable by others (0644)'],
    ['win32', 'config.json, profile default'],
  ])('%s: doctor says %j', async (platform, said) => {
    const home = homeWith({ 'base-url': 'http://127.0.0.1:1' });
    chmodSync(join(home, 'config/config.json'), 0o644);
    const { stdout } = await leads(['doctor', '--json', '--retries', '0'], { home, platform });
    expect(stdout.split('\n').find((line) => line.includes('machine.config'))).toContain(said);
  });
});

describe('config edit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leads-editor-'));
  const editor = join(folder, 'editor with blanks');
  writeFileSync(editor, '#!/bin/sh\necho "$@" > "$0.words"\n', { mode: 0o755 });

  it('Windows takes the name of a program alone', async () => {
    const run = await leads(['config', 'edit'], {
      home: homeWith({}),
      platform: 'win32',
      env: { EDITOR: editor },
    });
    expect([run.exitCode, existsSync(`${editor}.words`)]).toEqual([0, true]);
  });

  it('others take flags as well, and so no blanks in the name', async () => {
    const flags = await leads(['config', 'edit'], {
      home: homeWith({}),
      env: { EDITOR: `'${editor}' --wait` },
    });
    expect(flags.exitCode).toBe(0);
    expect((await leads(['config', 'edit'], { home: homeWith({}), env: { EDITOR: editor } })).exitCode).toBe(
      3,
    );
  });

  it('Windows has notepad', async () => {
    const { stderr } = await leads(['config', 'edit'], { home: homeWith({}), platform: 'win32' });
    expect(stderr).toContain("'notepad'");
  });
});

it('an inbox is synced through the cache of a drive, which is a setting where a system has both', async () => {
  const database = await openDatabase(join(mkdtempSync(join(tmpdir(), 'leads-inbox-')), 'a.db'), {
    warn: () => undefined,
    clock: new FakeClock(),
  });
  expect(database.prepare('PRAGMA fullfsync').all([])).toMatchObject([{ fullfsync: 1 }]);
  database.close();
});
