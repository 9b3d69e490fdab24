import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Libsql from 'libsql';
import { afterEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { leads } from '../../support/run.ts';
import { FakeClock } from '../../support/clock.ts';
import { arrivalOf, freshDirectory, freshFile } from '../support.ts';

const clock = new FakeClock();
const clean: (() => void)[] = [];
afterEach(() => {
  for (const step of clean.splice(0)) step();
});

const messageOf = async (path: string): Promise<string> => {
  const run = await leads(['inbox', 'list', '--inbox', path]);
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toBe('');
  return run.stderr;
};

describe('an inbox that cannot be opened says why', () => {
  it('made by a newer version', async () => {
    const path = freshFile('inbox.db');
    await (await openInbox({ location: path, clock })).close();
    const database = new Libsql(path);
    database.exec('PRAGMA user_version = 999');
    database.close();
    expect(await messageOf(path)).toMatch(/newer version of leads\nhint: update leads/);
  });

  it('of another program, which is left alone', async () => {
    const path = freshFile('other.db');
    const database = new Libsql(path);
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    chmodSync(path, 0o644);
    const before = readFileSync(path);
    expect(await messageOf(path)).toContain('another program');
    expect(readFileSync(path).equals(before)).toBe(true);
    const after = new Libsql(path);
    const tables = after.prepare('SELECT name FROM sqlite_master').all() as { name: string }[];
    after.close();
    expect(tables.map(({ name }) => name)).toEqual(['theirs']);
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  it('no database, or a damaged one', async () => {
    const path = freshFile('text.db');
    writeFileSync(path, 'no database at all, but some text. '.repeat(100));
    expect(await messageOf(path)).toContain('is not an inbox database');
    const torn = freshFile('torn.db');
    writeFileSync(torn, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5000, 0xff)]));
    expect(await messageOf(torn)).toMatch(/not an inbox database|damaged/);
  });

  it('a device, which keeps its mode', async () => {
    const path = freshFile('pipe');
    execFileSync('mkfifo', ['-m', '644', path]);
    expect(await messageOf(path)).toContain('not a regular file');
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  it('a directory', async () => {
    const path = freshFile('inbox.db');
    mkdirSync(path);
    expect(await messageOf(path)).toContain('cannot open the inbox');
  });

  it('read-only, and is read all the same', async ({ skip }) => {
    const directory = freshDirectory();
    const path = join(directory, 'inbox.db');
    const inbox = await openInbox({ location: path, clock });
    await inbox.take([arrivalOf({ id: 'a' })]);
    await inbox.close();
    // Root may write whatever its mode is, so only a file system can refuse it.
    const mounted = spawnSync('mount', ['--bind', '-o', 'ro', directory, directory]).status === 0;
    if (!mounted || spawnSync('mount', ['-o', 'remount,bind,ro', directory]).status !== 0) {
      return skip('mounting is not allowed here');
    }
    clean.push(() => execFileSync('umount', ['-l', directory]));
    const pruned = await leads(['inbox', 'prune', '--before', 'now', '--inbox', path]);
    expect(pruned.exitCode).toBe(3);
    expect(pruned.stderr).toContain('cannot open the inbox');
    for (const words of [['list'], ['show', 'a'], ['export']]) {
      const run = await leads(['inbox', ...words, '--inbox', path]);
      expect(run.exitCode).toBe(0);
      expect(run.stdout).toContain('a');
    }
  });

  it('a URL', async () => {
    const run = await leads(['inbox', 'list', '--inbox', 'http://127.0.0.1:1/x']);
    expect(run).toMatchObject({ exitCode: 2 });
  });
});

it('has nothing to show before anything came, and makes no file for it', async () => {
  const run = await leads(['inbox', 'list', '--json']);
  expect(run).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  expect(run.stderr).toContain('nothing was received yet');
});

it('refuses an empty file that is named, and leaves it as it is', async () => {
  const path = freshFile('inbox.db');
  writeFileSync(path, '');
  const run = await leads(['inbox', 'list', '--inbox', path, '--json']);
  expect(run).toMatchObject({ exitCode: 3, stdout: '' });
  expect(run.stderr).toContain(`the file ${path} is empty`);
  expect(statSync(path).size).toBe(0);
});

it.each(['list', 'export', 'show 1', 'prune --before 1d', 'retry 1', 'erase --id 1 --dry-run'])(
  'fails where the inbox that %s is given is not there, and says once that the own one is not',
  async (line) => {
    const path = freshFile('typo.db');
    const argv = ['inbox', ...line.split(' ')];
    for (const named of [
      await leads([...argv, '--inbox', path]),
      await leads(argv, { env: { LEADS_INBOX: path } }),
    ]) {
      expect([named.exitCode, named.stdout]).toEqual([3, '']);
      expect(named.stderr).toMatch(
        /^error: there is no inbox at .*typo\.db\nhint: 'leads listen' makes it\n$/,
      );
    }
    const own = await leads(argv);
    const looksForOne = /show|erase/.test(line);
    expect(own.exitCode).toBe(looksForOne ? 7 : 0);
    const said = String.raw`nothing was received yet: there is no inbox at .*inbox\.db\n`;
    const message = new RegExp(looksForOne ? `^error: ${said}hint: 'leads listen' makes it\n$` : `^${said}$`);
    expect(own.stderr).toMatch(message);
    const quiet = await leads([...argv, '-q']);
    expect(quiet.stderr).toMatch(looksForOne ? message : /^$/);
  },
);

it.each([
  ['inbox', 'list'],
  ['inbox', 'export'],
  ['stats', '-q', '--inbox', '--expect', 'duplicate<5%'],
  ['listen', '--token', 'x', '--port', '0'],
])('says why the data directory cannot be read to %s %s', async (...argv) => {
  const path = freshFile('directory');
  writeFileSync(path, '');
  const run = await leads(argv, { env: { LEADS_DATA_DIR: path } });
  expect(run.exitCode).toBe(3);
  expect(run.stderr).toContain('inbox.db: a part of its path is not a directory\n');
  expect(run.stderr).toContain('LEADS_DATA_DIR');
});

it('says which file or directory this user may not read', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root reads everything');
  const path = freshFile('inbox.db');
  await (await openInbox({ location: path, clock })).close();
  for (const closed of [path, dirname(path)]) {
    chmodSync(closed, 0);
    const run = await leads(['inbox', 'list', '--inbox', path]);
    chmodSync(closed, 0o700);
    expect(run.exitCode).toBe(3);
    const place = closed === path ? '' : ` in the directory ${closed}`;
    expect(run.stderr).toContain(`cannot open the inbox ${path}: permission denied${place}\n`);
  }
});

it('says that an empty database is no inbox', async () => {
  const path = freshFile('inbox.db');
  writeFileSync(path, '');
  // With its log it may have held something.
  writeFileSync(`${path}-wal`, '');
  const run = await leads(['inbox', 'list', '--inbox', path]);
  expect(run).toMatchObject({ exitCode: 3, stdout: '' });
  expect(run.stderr).toMatch(/^error: .*inbox\.db is an empty database, not an inbox\nhint: /);
});

it('in memory makes no file, and says nothing of a disk', async () => {
  const directory = freshDirectory();
  const before = process.cwd();
  process.chdir(directory);
  clean.push(() => process.chdir(before));
  const inbox = await openInbox({ location: ':memory:', clock });
  await inbox.take([arrivalOf({ id: 'a' })]);
  await inbox.checkWritable();
  expect(await inbox.erase({ leadIds: ['a'], rejected: [] })).toMatchObject({ leads: 1, outOfReach: [] });
  expect(await inbox.compact()).toBeUndefined();
  await inbox.close();
  expect(readdirSync(directory)).toEqual([]);
});
