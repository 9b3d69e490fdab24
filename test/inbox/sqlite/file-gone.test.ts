import { copyFileSync, existsSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { DatabaseLog, FileIdentity, StoreWarnings } from '../../../src/inbox/sqlite/file-health.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { copiedSeqOf } from '../../../src/inbox/sqlite/open-database.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { sentenceOf } from '../../../src/messages/find-message.ts';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

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
  // On a busy machine the check at the opening may come late and find the damage, too.
  const inbox = await open(path, {
    warn: (found) => found.kind !== 'inbox-damaged' && warnings.push(describeWarning(found)),
  });
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

it.each([
  [true, []],
  [false, ['inbox-file-lost']],
])(
  'asks a disk that failed again what the emptied log means: all was copied: %s (seed 489650)',
  (wasCopied, said) => {
    const path = freshFile('inbox.db');
    writeFileSync(path, 'database');
    writeFileSync(`${path}-wal`, 'log');
    let isCopied = (): boolean => wasCopied;
    const warnings: string[] = [];
    const health = new StoreWarnings(new FileIdentity(path), new DatabaseLog(path, () => isCopied()), {
      location: path,
      warn: ({ kind }) => warnings.push(kind),
    });
    health.verifyInPlace();
    const disk = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    isCopied = () => {
      throw disk;
    };
    truncateSync(`${path}-wal`);
    const verified = (): unknown => {
      try {
        health.verifyInPlace();
        return undefined;
      } catch (error) {
        return error;
      }
    };
    for (const log of ['', 'log', 'a longer log']) {
      writeFileSync(`${path}-wal`, log);
      const error = verified();
      expect(error).toBeInstanceOf(CannotStoreError);
      expect(error).toMatchObject({ cause: disk });
      expect(sentenceOf(error as Error)).toContain('I/O error');
    }
    expect(warnings).toEqual([]);
    isCopied = () => wasCopied;
    expect(verified() instanceof CannotStoreError).toBe(!wasCopied);
    isCopied = () => !wasCopied;
    expect(verified() instanceof CannotStoreError).toBe(!wasCopied);
    expect(warnings).toEqual(said);
  },
);

it('takes a database whose log holds all of it, or that is damaged without it, for one that was not copied; what cannot be read, for neither', async () => {
  const path = freshFile('inbox.db');
  const copiedSeq = await copiedSeqOf(path);
  expect(() => copiedSeq()).toThrow();
  for (const content of ['', 'no database'.repeat(1000)]) {
    writeFileSync(path, content);
    expect(copiedSeq()).toBe(-1);
  }
});
