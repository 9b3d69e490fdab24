import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { binary } from '../support/listen-process.ts';
import { asStranger, canBeStranger } from '../support/stranger.ts';

/** As `docker --user 12345` runs it: nobody's id, whose home directory is the root. */
async function inContainer(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [program = '', ...rest] = [...asStranger, process.execPath, binary, ...words];
  return execa(program, rest, {
    env: { PATH: process.env['PATH'], HOME: '/', ...env },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 60_000,
  });
}

const service = ['--base-url', 'http://127.0.0.1:1', '--retries', '0'];
const app = ['http://127.0.0.1:1', '--token', 't'];
const receiver = ['listen', '--http', '--port', '0'];

it.runIf(canBeStranger).each<[exitCodes: readonly number[], says: RegExp, words: readonly string[]]>([
  [[7], /listening on .*leads-inbox-/s, [...receiver, '--token', 's', '--count', '1', '--for', '100ms']],
  [[0], /listening on .*leads-inbox-/s, [...receiver, '--no-verify', '--for', '100ms']],
  [[3], /LEADS_DATA_DIR/, [...receiver, '--token', 's']],
  [[3], /LEADS_DATA_DIR/, ['listen', '--port', '0', '--token', 's', '--for', '100ms']],
  [[8], /LEADS_CONFIG_DIR/, ['config', 'set', 'retries', '3']],
  [[8], /LEADS_CONFIG_DIR/, ['login', ...service, '--no-check', '--api-key-file', '/etc/hostname']],
  [[0], /KEY/, ['config', 'list']],
  [[7], /config/, ['doctor', ...service]],
  [[3], /no API key/, ['list', ...service]],
  [[3], /no API key/, ['export', ...service]],
  [[3], /no API key/, ['stats', ...service]],
  [[3], /no API key/, ['audit', ...service]],
  [[0], /no inbox/, ['inbox', 'list']],
  [[0], /no inbox/, ['stats', '--inbox']],
  [[3], /no inbox/, ['inspect']],
  [[5, 7], /refused|127\.0\.0\.1:1/, ['send', ...app, '--count', '1', '--retries', '0']],
  [[5, 7], /refused|127\.0\.0\.1:1/, ['check', ...app]],
  [[0], /no finding|tour/i, ['demo']],
])('ends with %j and %s, and is no bug: leads %j', async (exitCodes, says, words) => {
  const { exitCode, stdout, stderr } = await inContainer(words);
  expect(stderr).not.toContain('a bug in leads');
  expect(stdout + stderr).toMatch(says);
  expect(exitCodes).toContain(exitCode);
});

it.each<[exitCode: number, words: readonly string[]]>([
  [8, ['demo']],
  [3, [...receiver, '--token', 's', '--for', '100ms']],
])('ends with %i and names TMPDIR where that is missing: leads %j', async (exitCode, words) => {
  const env = { ...process.env, TMPDIR: '/no/such/place' };
  const run = await execa(process.execPath, [binary, ...words], { env, reject: false, stdin: 'ignore' });
  expect(run).toMatchObject({
    exitCode,
    stderr: expect.stringMatching(/^error: .*\/no\/such\/place: no such directory\nhint: .*TMPDIR/) as string,
  });
});

/** Root without the right to read what its mode forbids. */
const asOwner =
  userInfo().uid === 0 ? ['setpriv', '--inh-caps=-all', '--bounding-set=-dac_override,-dac_read_search'] : [];

it.runIf(canBeStranger || userInfo().uid !== 0).each([
  ['inbox', 'list', '--inbox'],
  [...receiver, '--token', 's', '--for', '100ms', '--inbox'],
])('says that it may not read an inbox: leads %s %s', async (...words) => {
  const path = join(mkdtempSync(join(tmpdir(), 'leads-closed-')), 'inbox.db');
  writeFileSync(path, 'SQLite', { mode: 0o000 });
  const [program, ...rest] = [...asOwner, process.execPath, binary, ...words, path];
  const { exitCode, stderr } = await execa(program, rest, { reject: false, stdin: 'ignore' });
  expect(stderr).toContain(`error: cannot open the inbox ${path}: permission denied\n`);
  expect(exitCode).toBe(3);
});

it.runIf(canBeStranger)(
  'a data directory that root made, and one that is read-only, name LEADS_DATA_DIR',
  async ({ skip }) => {
    const place = mkdtempSync(join(tmpdir(), 'leads-read-only-'));
    const ofRoot = join(place, 'of-root');
    mkdirSync(ofRoot, { mode: 0o755 });
    const readOnly = join(place, 'read-only');
    mkdirSync(readOnly);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', readOnly]).status !== 0)
      return skip('mounting is not allowed here');
    onTestFinished(() => void spawnSync('umount', ['-l', readOnly]));
    for (const directory of [ofRoot, readOnly]) {
      const env = { LEADS_DATA_DIR: directory };
      const started = await inContainer([...receiver, '--token', 's', '--for', '100ms'], env);
      expect(started).toMatchObject({ exitCode: 0 });
      const refused = await inContainer([...receiver, '--token', 's'], env);
      expect(refused).toMatchObject({
        exitCode: 3,
        stderr: expect.stringMatching(/hint: .*--inbox.*LEADS_DATA_DIR/) as string,
      });
    }
  },
);
