import {
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { DatabaseLog, FileIdentity, StoreWarnings } from '../../../src/inbox/sqlite/file-health.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { copiedSeqOf } from '../../../src/inbox/sqlite/open-database.ts';
import { isNoWholeInbox } from '../../../src/inbox/sqlite/sqlite-errors.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { sentenceOf } from '../../../src/messages/find-message.ts';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, diskError, freshFile } from '../support.ts';

it.each([
  ['deleted', 'was deleted or moved', (path: string) => rmSync(path)],
  [
    'replaced',
    'was replaced',
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['deprived of its log', 'was deleted or moved', (path: string) => rmSync(`${path}-wal`)],
  ['deprived of what its log holds', 'was cut', (path: string) => truncateSync(`${path}-wal`)],
])('takes nothing any more, and says it once, when its file is %s', async (_, what, happens) => {
  const path = freshFile('inbox.db');
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
  // Ends the check at the opening, which may come late and make the log anew that is gone, or find the damage, too.
  await inbox.compact();
  await takeOne(inbox, arrivalOf({ id: 'before' }));
  happens(path);
  const existed = existsSync(path);
  for (const id of ['a', 'b']) {
    await expect(takeOne(inbox, arrivalOf({ id }))).rejects.toThrow(CannotStoreError);
  }
  expect(warnings).toEqual([expect.stringContaining(what)]);
  expect(warnings[0]).toContain('503 until this receiver is restarted');
  expect(existsSync(path)).toBe(existed);
});

it('goes on where the log is emptied once it is copied, as programs do that back the database up', async () => {
  const path = freshFile('inbox.db');
  const inbox = await open(path);
  const Libsql = await loadLibsql();
  const other = new Libsql(path, { timeout: 0 });
  for (const id of ['a', 'b', 'c']) {
    await takeOne(inbox, arrivalOf({ id }));
    const empty = () => other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])[0]?.['busy'] === 0;
    await until(empty, 'the log to be emptied');
    expect(statSync(`${path}-wal`).size).toBe(0);
  }
  other.close();
  await inbox.close();
});

it('takes nothing any more when a part of a log is cut off that was begun anew at its size', async () => {
  const path = freshFile('inbox.db');
  const warnings: string[] = [];
  const inbox = await open(path, { warn: ({ kind }) => warnings.push(kind) });
  const Libsql = await loadLibsql();
  const other = new Libsql(path, { timeout: 0 });
  for (const id of ['a', 'b', 'c']) await takeOne(inbox, arrivalOf({ id }));
  const { size } = statSync(`${path}-wal`);
  const restart = () => other.prepare('PRAGMA wal_checkpoint(RESTART)').all([])[0]?.['busy'] === 0;
  await until(restart, 'the log to be begun anew');
  await takeOne(inbox, arrivalOf({ id: 'd' }));
  expect(statSync(`${path}-wal`).size).toBe(size);
  expect(warnings).toEqual([]);
  truncateSync(`${path}-wal`, 4096);
  await expect(takeOne(inbox, arrivalOf({ id: 'e' }))).rejects.toThrow(CannotStoreError);
  expect(warnings).toContain('inbox-file-lost');
  other.close();
});

/** A log as the database begins it, with those numbers in its head. */
const logWith = (salts: string, size: number): Buffer =>
  Buffer.concat([
    Buffer.from('377f0682', 'hex'),
    Buffer.alloc(12),
    Buffer.from(salts),
    Buffer.alloc(size - 24),
  ]);

/** The health of a database of which only the files are real, and whose own file is read by `isCopied`. */
function healthOf(isCopied: () => boolean) {
  const path = freshFile('inbox.db');
  const logPath = `${path}-wal`;
  writeFileSync(path, 'database');
  writeFileSync(logPath, logWith('salts #1', 1000));
  const warnings: string[] = [];
  const log = new DatabaseLog(path, isCopied);
  onTestFinished(() => log.close());
  const health = new StoreWarnings(new FileIdentity(path), log, {
    location: path,
    warn: ({ kind }) => warnings.push(kind),
  });
  const refusal = (): unknown => {
    try {
      health.verifyInPlace();
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(CannotStoreError);
      return error;
    }
  };
  return { logPath, warnings, refusal };
}

it.each([
  [true, []],
  [false, ['inbox-file-lost']],
])(
  'asks a disk that failed again what the emptied log means: all was copied: %s (seed 489650)',
  (wasCopied, said) => {
    let isCopied = (): boolean => {
      throw diskError;
    };
    const { logPath, warnings, refusal } = healthOf(() => isCopied());
    expect(refusal()).toBeUndefined();
    truncateSync(logPath);
    for (let times = 0; times < 3; times += 1) {
      const error = refusal() as Error;
      expect(error.cause).toBe(diskError);
      expect(sentenceOf(error)).toContain('I/O error');
    }
    expect(warnings).toEqual([]);
    isCopied = () => wasCopied;
    expect(refusal() === undefined).toBe(wasCopied);
    isCopied = () => !wasCopied;
    expect(refusal() === undefined).toBe(wasCopied);
    expect(warnings).toEqual(said);
  },
);

it('looks again at a log of which the disk does not give the head, and does not call it cut', () => {
  const path = freshFile('inbox.db');
  const logPath = `${path}-wal`;
  const log = new DatabaseLog(path, () => false);
  onTestFinished(() => log.close());
  // Has a size and can be opened, and every read of it fails.
  mkdirSync(logPath);
  writeFileSync(`${logPath}/entry`, '');
  for (let times = 0; times < 2; times += 1) expect(() => log.change()).toThrow('EISDIR');
  rmSync(logPath, { recursive: true });
  expect(log.change()).toBeUndefined();
});

it('calls no log cut because of a file that another program is copying it into', () => {
  const { logPath, warnings, refusal } = healthOf(() => {
    writeFileSync(logPath, logWith('salts #2', 500));
    return false;
  });
  truncateSync(logPath);
  expect(refusal()).toBeUndefined();
  expect(warnings).toEqual([]);
});

it('takes a log for whole that another program begins anew at its size, and not once that shortens it', async () => {
  const path = freshFile('inbox.db');
  const logPath = `${path}-wal`;
  const Libsql = await loadLibsql();
  const [inbox, other] = [new Libsql(path, { timeout: 0 }), new Libsql(path, { timeout: 0 })];
  const insert = 'INSERT INTO counter VALUES (1, zeroblob(200000))';
  inbox.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE counter (seq, content)');
  for (let times = 0; times < 5; times += 1) inbox.exec(insert);
  const copiedSeq = await copiedSeqOf(path);
  const log = new DatabaseLog(path, () => copiedSeq() === 1);
  onTestFinished(() => log.close());
  const { size } = statSync(logPath);
  other.exec('PRAGMA journal_size_limit = 0; PRAGMA cache_size = 1');
  expect(other.prepare('PRAGMA wal_checkpoint(RESTART)').all([])).toMatchObject([{ busy: 0 }]);
  // More than it holds in memory: it is in the log before it is committed.
  other.exec(`BEGIN IMMEDIATE; ${insert}`);
  expect([log.change(), statSync(logPath).size]).toEqual([undefined, size]);
  other.exec('COMMIT');
  expect(statSync(logPath).size).toBeLessThan(size);
  expect(log.change()).toEqual({ path: logPath, change: 'cut' });
  for (const database of [inbox, other]) database.close();
});

/** Commits for a second; in turn, the log is emptied, begun anew, or left as it is. */
const writesAndCopies = `
  const Libsql = require('libsql');
  const database = new Libsql(process.argv[1], { timeout: 1000 });
  database.exec('PRAGMA synchronous = OFF');
  const end = Date.now() + 1000;
  for (let writes = 0; Date.now() < end; writes += 1) {
    database.exec(\`UPDATE counter SET seq = seq + 1, content = zeroblob(\${((writes % 5) + 1) * 9000})\`);
    if (writes % 3 === 0) database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    else if (writes % 3 === 1) database.prepare('PRAGMA wal_checkpoint(RESTART)').all([]);
  }
  database.close();
`;

it('calls no log cut that is begun anew between the read of its size and that of its head', async () => {
  const path = freshFile('inbox.db');
  const Libsql = await loadLibsql();
  const inbox = new Libsql(path, { timeout: 0 });
  inbox.exec('PRAGMA journal_mode = WAL; CREATE TABLE counter (seq, content)');
  inbox.exec('INSERT INTO counter VALUES (1, zeroblob(9000))');
  const log = new DatabaseLog(path, () => true);
  onTestFinished(() => log.close());
  const other = execa(process.execPath, ['-e', writesAndCopies, path], { reject: false });
  onTestFinished(() => void other.kill());
  const results: unknown[] = [];
  void other.then((result) => results.push(result));
  while (results.length === 0) {
    for (let times = 0; times < 500; times += 1) expect(log.change()).toBeUndefined();
    await setImmediate();
  }
  expect(results).toMatchObject([{ exitCode: 0 }]);
  expect(inbox.prepare('SELECT seq FROM counter').all([])[0]?.['seq']).toBeGreaterThan(100);
  inbox.close();
});

it.each<[string, (path: string) => void, boolean]>([
  ['grows', (path) => writeFileSync(path, logWith('salts #1', 2000)), false],
  ['is begun anew', (path) => writeFileSync(path, logWith('salts #2', 1000)), false],
  ['is emptied and begun anew', (path) => writeFileSync(path, logWith('salts #2', 500)), false],
  ['loses its end', (path) => truncateSync(path, 500), true],
  ['loses all but a part of its head', (path) => truncateSync(path, 20), true],
  ['is written on behind a hole', (path) => writeFileSync(path, Buffer.alloc(2000)), true],
  ['is shorter, and starts with a hole', (path) => writeFileSync(path, Buffer.alloc(500)), true],
  ['is written anew with a hole', (path) => writeFileSync(path, Buffer.alloc(1000)), true],
])('a log that %s', (_, happens, isCut) => {
  // That the file holds the newest delivery says nothing of what was committed since, as what a target had.
  const { logPath, warnings, refusal } = healthOf(() => true);
  happens(logPath);
  for (let times = 0; times < 2; times += 1) expect(refusal() !== undefined).toBe(isCut);
  expect(warnings).toEqual(isCut ? ['inbox-file-lost'] : []);
});

it('takes a log that starts with a hole when it is opened for one that nothing was written to', () => {
  const path = freshFile('inbox.db');
  writeFileSync(`${path}-wal`, Buffer.alloc(1000));
  const log = new DatabaseLog(path, () => true);
  onTestFinished(() => log.close());
  expect(log.change()).toBeUndefined();
  writeFileSync(`${path}-wal`, logWith('salts #1', 1000));
  expect(log.change()).toBeUndefined();
  writeFileSync(`${path}-wal`, Buffer.alloc(1000));
  expect(log.change()).toMatchObject({ change: 'cut' });
});

it('tells what was read from what the disk does not give', () => {
  const failed = (code: string): Error => Object.assign(new Error(code), { code });
  for (const code of ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB', 'SQLITE_ERROR'])
    expect(isNoWholeInbox(failed(code))).toBe(true);
  for (const code of [
    'SQLITE_IOERR',
    'SQLITE_IOERR_READ',
    'SQLITE_IOERR_CORRUPTFS',
    'SQLITE_CANTOPEN',
    'EMFILE',
    '',
  ])
    expect(isNoWholeInbox(failed(code))).toBe(false);
});

it('takes a database whose log holds all of it, or that is damaged without it, for one that was not copied', async () => {
  const path = freshFile('inbox.db');
  const copiedSeq = await copiedSeqOf(path);
  for (const content of ['', 'no database'.repeat(1000)]) {
    writeFileSync(path, content);
    expect(copiedSeq()).toBe(-1);
  }
});
