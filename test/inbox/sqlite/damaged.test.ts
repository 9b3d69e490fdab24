import { noteText } from '../../../src/errors.ts';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { checkIntegrity } from '../../../src/inbox/sqlite/file-health.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { shrink } from '../../../src/inbox/sqlite/overwrite-file.ts';
import { until } from '../../support/until.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshFile } from '../support.ts';
import { damagedInbox, ids } from './damaged-inbox.ts';

it('with a damaged page refuses the leads on that page alone, and says once how to save the rest', async () => {
  const path = await damagedInbox('leads', 3);
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(noteText(found)) });
  const batch = [...ids, ...ids.map((id) => `new-${id}`)].map((id) => arrivalOf({ id }));
  for (let round = 0; round < 2; round += 1) {
    const taken = await Promise.allSettled(batch.map((arrival) => takeOne(inbox, arrival)));
    const failed = batch.filter((_, i) => taken[i]?.status === 'rejected').map(({ leadId }) => leadId);
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(100);
    expect(failed.every((id) => id.startsWith('lead-'))).toBe(true);
  }
  await until(() => warnings.length > 0, 'the warning');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(`sqlite3 ${path} .recover | sqlite3 NEW`);
});

it('is refused to who reads the damaged page, and takes new leads', async () => {
  const inbox = await open(await damagedInbox('deliveries', 10));
  expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  await expect(all(inbox.list({}))).rejects.toThrow(/cannot read the inbox .*: the database is damaged/);
});

it('cannot be opened, which is said as that, where the page with its own values is damaged', async () => {
  const location = await damagedInbox('meta', 0);
  await expect(openInboxReader({ location, clock })).rejects.toMatchObject({
    code: 'config',
    message: `cannot open the inbox ${location}: the database is damaged`,
    details: { hint: expect.stringContaining('.recover') as string },
  });
});

it('is found damaged by a check of its pages, as a whole one is not', async () => {
  expect(await checkIntegrity(await damagedInbox('deliveries', 10))).toMatch(/page/);
  const whole = freshFile('inbox.db');
  await (await open(whole)).close();
  expect(await checkIntegrity(whole)).toBeUndefined();
});

async function execute(path: string, sql: string): Promise<void> {
  const Libsql = await loadLibsql();
  const database = new Libsql(path, { timeout: 0 });
  database.exec(sql);
  database.close();
}

describe('an inbox that an erasure did not write anew', () => {
  it('opens with a damaged page, takes leads, and says what it still holds', async () => {
    const path = await damagedInbox('deliveries', 10);
    await execute(path, 'UPDATE meta SET overwrite_due = 1');
    const warnings: string[] = [];
    const inbox = await open(path, { warn: (found) => warnings.push(noteText(found)) });
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
    expect(warnings.filter((text) => text.includes('a copy of what was erased'))).toEqual([
      expect.stringMatching(/what was erased: .*: the database is damaged; 'sqlite3 .* \.recover /),
    ]);
  });

  it('says so of every later erasure, which erases all the same', async () => {
    const path = await damagedInbox('deliveries', 10);
    const inbox = await open(path);
    expect(await inbox.erase({ leadIds: ids.slice(0, 1), rejected: [] })).toMatchObject({
      leads: 1,
      remains: {
        kind: 'inbox-not-overwritten',
        message: expect.stringContaining('the database is damaged') as string,
        hint: expect.stringContaining('.recover') as string,
      },
    });
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  });

  it('keeps nobody waiting at an opening where that takes long: the next erasure completes it', async () => {
    const path = freshFile('inbox.db');
    const before = await open(path);
    await before.close();
    await execute(
      path,
      `CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(101 * 1024 * 1024));
       UPDATE meta SET overwrite_due = 1`,
    );
    const warnings: string[] = [];
    const inbox = await open(path, { warn: (found) => warnings.push(noteText(found)) });
    expect(warnings).toEqual([expect.stringContaining('it is too large to be rewritten')]);
    expect(await inbox.erase({ leadIds: [], rejected: [] })).toMatchObject({ remains: undefined });
    warnings.length = 0;
    await open(path, { warn: (found) => warnings.push(noteText(found)) });
    expect(warnings).toEqual([]);
  });
});

// Without a directory for temporary files the database says one or the other, by what it needs first.
it.each([
  ['in memory', 'SQLITE_CANTOPEN'],
  ['in memory', 'SQLITE_IOERR'],
  ['beside the inbox', 'SQLITE_FULL'],
])('is written anew %s where a temporary file gives %s', async (where, code) => {
  const Libsql = await loadLibsql();
  const path = freshFile('inbox.db');
  const database = new Libsql(path, { timeout: 0 });
  const isInFile = (): boolean => database.prepare('PRAGMA temp_store').get([])?.['temp_store'] === 1;
  const directory = (): unknown =>
    database.prepare('PRAGMA temp_store_directory').get([])?.['temp_store_directory'];
  const fails = (): boolean =>
    where === 'in memory' ? isInFile() : !isInFile() || directory() !== dirname(path);
  const found = shrink({
    inTransaction: false,
    exec(sql) {
      if (sql === 'VACUUM' && fails()) throw Object.assign(new Error(code), { code });
      database.exec(sql);
    },
    prepare: (sql) => database.prepare(sql.includes('wal_checkpoint') ? 'SELECT 0 AS busy' : sql),
    close: () => undefined,
  });
  const [stays, isFile] = [directory(), isInFile()];
  database.close();
  expect([found, stays ?? '', isFile]).toEqual([undefined, '', false]);
});

it('says that it is damaged where that is found when what is due is read', async () => {
  const target = 'forward http://a.test/';
  const warnings: string[] = [];
  const path = await damagedInbox('due', 0, [target]);
  const inbox = await open(path, { targets: [target], warn: ({ kind }) => warnings.push(kind) });
  for (let round = 0; round < 2; round += 1) {
    await expect(inbox.nextDueIn(target)).rejects.toThrow(/the database is damaged/);
    await expect(inbox.claim(target, 2000)).rejects.toThrow(/the database is damaged/);
  }
  expect(warnings).toEqual(['inbox-damaged']);
});
