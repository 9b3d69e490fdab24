import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { newDatabase, newSchema, superuser, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { type Listener, listenInEachTest } from './support.ts';
import { freshHome } from '../../support/run.ts';

const listenBefore = listenInEachTest();
const lookMs = 2000;

/** Ready when it resolves, also to look at its files. */
const listen: typeof listenBefore = async (argv, options) => {
  const listener = await listenBefore(argv, options);
  await until(() => listener.clock.sleeps.includes(lookMs));
  return listener;
};

let sent = 0;
/** The status of a delivery with this token. */
const statusWith = async (listener: Listener, token: string): Promise<number> =>
  (await listener.post({ id: `lead-${(sent += 1)}` }, { 'x-webhook-token': token })).status;

/** Lets the receiver look at its files, and waits until it has. */
async function look({ clock }: Listener, ms = lookMs): Promise<void> {
  const looks = (): number => clock.sleeps.filter((slept) => slept === lookMs).length;
  const before = looks();
  clock.advance(ms);
  await until(() => looks() > before, 'another look at the files');
}

it('takes a new secret from a file that was swapped, once two looks found the same, and rejects the former one', async () => {
  const home = freshHome();
  const put = (version: string, token: string): void => {
    mkdirSync(join(home, version));
    writeFileSync(join(home, version, 'token'), `${token}\n`);
    symlinkSync(version, join(home, 'next'));
    renameSync(join(home, 'next'), join(home, 'data'));
  };
  put('1', 'token-one');
  const listener = await listen(['--token-file', join(home, 'data', 'token')]);
  put('2', 'token-two');
  await look(listener);
  expect(await statusWith(listener, 'token-one')).toBe(200);
  await look(listener);
  expect(await statusWith(listener, 'token-one')).toBe(401);
  expect(await statusWith(listener, 'token-two')).toBe(200);
  put('3', 'token-three');
  listener.hangUp();
  await until(async () => (await statusWith(listener, 'token-three')) === 200, 'the secret of SIGHUP');
  expect(await statusWith(listener, 'token-two')).toBe(401);
  expect(listener.stderr.text().match(/note: the secrets were renewed/g)).toHaveLength(2);
});

it('keeps its secrets while a file is missing, empty or not what the scheme takes, and says it once each', async () => {
  const file = join(freshHome(), 'token');
  writeFileSync(file, 'token-one');
  const listener = await listen(['--token-file', file]);
  const warnings = (): string[] =>
    listener.stderr
      .text()
      .split('\n')
      .filter((line) => line.startsWith('warning: the secrets'));
  const breakage = [() => unlinkSync(file), () => writeFileSync(file, ''), () => writeFileSync(file, ' a ')];
  for (const [i, breakFile] of breakage.entries()) {
    breakFile();
    for (let looks = 0; looks < 8; looks += 1) await look(listener);
    expect(warnings()).toHaveLength(i + 1);
    expect(await statusWith(listener, 'token-one')).toBe(200);
  }
  expect(warnings()[0]).toBe(
    `warning: the secrets were not renewed: cannot read ${file}: there is no such file`,
  );
  rmSync(file);
  execFileSync('mkfifo', [file]);
  await look(listener);
  await look(listener);
  expect(warnings().at(-1)).toContain('is no plain file any more');
  rmSync(file);
  writeFileSync(file, 'token-two');
  await look(listener);
  await look(listener);
  expect(await statusWith(listener, 'token-two')).toBe(200);
});

it('never reads stdin or a pipe again, beside a file that it does', async () => {
  const file = join(freshHome(), 'token');
  writeFileSync(file, 'token-two');
  const argv = ['--token-file', '-', '--token-file', file];
  const listener = await listen(argv, { stdin: Readable.from(['token-one\n']) });
  writeFileSync(file, 'token-three');
  listener.hangUp();
  await until(async () => (await statusWith(listener, 'token-three')) === 200, 'the new secret');
  expect([await statusWith(listener, 'token-one'), await statusWith(listener, 'token-two')]).toEqual([
    200, 401,
  ]);
});

it('stores neither the former secrets nor the new one, wherever a delivery holds them', async () => {
  const file = join(freshHome(), 'token');
  writeFileSync(file, 'token-first');
  const listener = await listen(['--token-file', file]);
  const note = 'token-first token-former token-latter';
  const headers = (secret: string) => ({ 'x-webhook-token': secret, 'x-note': note });
  const post = (id: string, secret: string) =>
    listener.post({ id }, headers(secret), '/?a=token-former&b=token-latter');
  for (const secret of ['token-former', 'token-latter']) {
    writeFileSync(file, secret);
    listener.hangUp();
    await until(async () => (await statusWith(listener, secret)) === 200, 'the new secret');
  }
  expect((await post('new', 'token-latter')).status).toBe(200);
  expect((await post('old', 'token-former')).status).toBe(401);
  await listener.stop();
  const inbox = await openInbox({ location: join(listener.home, 'data', 'inbox.db'), clock: systemClock });
  const stored = [];
  for await (const { path, headers } of inbox.list({}))
    if (path !== '/') stored.push([path, ...headers.flat()]);
  await inbox.close();
  expect(stored).toHaveLength(2);
  for (const words of stored) {
    expect(words).toContain('/?a=[redacted]&b=[redacted]');
    expect(words).toContain('[redacted] [redacted] [redacted]');
    expect(words.join()).not.toContain('token-');
  }
});

const address = await sharedPostgres();

it.skipIf(address === undefined)(
  'takes a new password of the database that has the inbox, once it is let in, and no other database',
  async () => {
    if (address === undefined) return;
    const database = await newDatabase(address);
    const admin = superuser(address, database);
    const [file, user] = [join(freshHome(), 'url'), newSchema()];
    const write = (password: string, more: { database?: string } = {}) =>
      writeFileSync(file, `${urlOf(address, { user, password, database, ...more })}\n`);
    try {
      await admin.unsafe(`CREATE ROLE ${user} LOGIN PASSWORD 'first-one' IN ROLE leads`);
      write('first-one');
      const listener = await listen(['--inbox', `@${file}`, '--token', 'token-one']);
      const renewedTo = async (password: string, said: string): Promise<void> => {
        write(password);
        listener.hangUp();
        await until(() => listener.stderr.text().includes(said), said);
        expect(await statusWith(listener, 'token-one')).toBe(200);
      };
      write('first-one', { database: 'leads' });
      listener.hangUp();
      await until(() => listener.stderr.text().includes('differs in more than user and password'));
      await renewedTo('not-yet', 'does not take the password of user');
      await admin.unsafe(`ALTER ROLE ${user} PASSWORD 'second-one'`);
      await renewedTo('second-one', 'note: the credentials of the inbox were renewed');
      await admin.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`);
      await until(async () => (await statusWith(listener, 'token-one')) === 200, 'new connections');
      expect(listener.stderr.text()).not.toMatch(/first-one|second-one|not-yet/);
      await listener.stop();
    } finally {
      await admin.end();
    }
  },
);
