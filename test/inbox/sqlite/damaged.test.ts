import { dirname } from 'node:path';
import { inWords } from '../../support/in-words.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DamagedExpiredError, NonceTable } from '../../../src/inbox/sqlite/delivery-tables.ts';
import { type DatabaseLog, type FileIdentity, StoreWarnings } from '../../../src/inbox/sqlite/file-health.ts';
import { type Database, loadLibsql, Statements } from '../../../src/inbox/sqlite/libsql.ts';
import { shrink } from '../../../src/inbox/sqlite/open-database.ts';
import { isUnreadable } from '../../../src/inbox/sqlite/sqlite-errors.ts';
import { outstandingLeads, storedNamesOf } from '../../../src/inbox/sqlite/target-tables.ts';
import { until } from '../../support/until.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshFile } from '../support.ts';
import { damagedInbox, ids, sharingIds } from './damaged-inbox.ts';

it('with a damaged page refuses the leads on that page alone, and says once how to save the rest', async () => {
  const path = await damagedInbox('leads', 3);
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
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
  expect(warnings[0]).toContain(`leads inbox recover --inbox ${path} -o NEW`);
});

it('is checked as soon as it is opened, before any delivery', async () => {
  const path = await damagedInbox('deliveries', 10);
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
  await until(() => warnings.length > 0, 'the warning');
  expect(warnings[0]).toContain('is damaged');
  expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  await expect(inWords(all(inbox.list({})))).rejects.toThrow(
    /cannot read the inbox .*: the database is damaged/,
  );
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
    await execute(path, 'UPDATE target_key SET overwrite_due = 1');
    const warnings: string[] = [];
    const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
    expect(warnings.filter((text) => text.includes('a copy of what was erased'))).toEqual([
      expect.stringMatching(/what was erased: .*: the database is damaged; 'leads inbox recover /),
    ]);
  });

  it('says so of every later erasure, which erases all the same', async () => {
    const path = await damagedInbox('deliveries', 10);
    const inbox = await open(path);
    expect(await inbox.erase({ leadIds: ids.slice(0, 1), rejected: [] })).toMatchObject({
      leads: 1,
      remains: { kind: 'inbox-file-not-overwritten', fault: { kind: 'sqlite-damaged' } },
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
       UPDATE target_key SET overwrite_due = 1`,
    );
    const warnings: string[] = [];
    const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
    expect(warnings).toEqual([expect.stringContaining('it is too large to be written anew')]);
    expect(await inbox.erase({ leadIds: [], rejected: [] })).toMatchObject({ remains: undefined });
    warnings.length = 0;
    await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
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

it('counts what a failing disk does not give as damaged', () => {
  const failed = (code: string): Error => Object.assign(new Error(code), { code });
  expect(isUnreadable(failed('SQLITE_IOERR_READ'))).toBe(true);
  expect(isUnreadable(failed('SQLITE_CORRUPT'))).toBe(true);
  expect(isUnreadable(failed('SQLITE_BUSY'))).toBe(false);
  expect(isUnreadable(failed('SQLITE_IOERR_WRITE'))).toBe(false);
});

it('says so of a part that the disk does not give, and refuses no delivery for expired nonces there', () => {
  const failed = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
  const said: string[] = [];
  const warn = ({ kind }: { kind: string }) => void said.push(kind);
  const unchanged = { change: () => undefined } as unknown as FileIdentity & DatabaseLog;
  new StoreWarnings(unchanged, unchanged, { location: 'inbox.db', warn }).failed(failed);
  expect(said).toEqual(['inbox-damaged']);
  const database: Database = {
    inTransaction: true,
    exec: () => undefined,
    prepare: (sql) => ({
      all: () => [],
      get: () => undefined,
      run() {
        if (sql.startsWith('DELETE')) throw failed;
        return { changes: 0 };
      },
    }),
    close: () => undefined,
  };
  const nonces = new NonceTable(new Statements(database), 1000, 0, false);
  nonces.look(['n']);
  expect(() => nonces.removeExpired(1)).toThrow(DamagedExpiredError);
});

it('opens where what is outstanding is damaged, says so, and takes leads', async () => {
  const path = await damagedInbox('work', 2, true);
  const warnings: string[] = [];
  const inbox = await open(path, {
    targets: ['forward http://a.test/'],
    warn: (found) => warnings.push(describeWarning(found)),
  });
  expect(await takeOne(inbox, arrivalOf({ id: 'new' }))).toMatchObject({ kind: 'pending' });
  expect(warnings).toEqual([expect.stringContaining('is damaged')]);
});

it('takes each delivery whose nonce is fresh where those that are expired are damaged', async () => {
  const path = await damagedInbox('nonces', 0, true);
  const inbox = await open(path, { nonceLifetimeMs: 60_000 });
  clock.advance(3_600_000);
  for (const id of ['z1', 'z2', 'z3']) {
    expect(await takeOne(inbox, arrivalOf({ id }, { nonce: `z nonce of ${id}` }))).toMatchObject({
      kind: 'accepted',
    });
  }
});

it('names what is due beside a lead that is on a damaged page of the ids, and that one without its delivery', async () => {
  const path = await damagedInbox('leads', 3, true);
  const target = 'forward http://a.test/';
  const inbox = await open(path, { targets: [target] });
  const due = await inbox.due(target, clock.now(), 2000);
  expect(due.map(({ leadId }) => leadId).sort()).toEqual(ids);
  const damaged = due.filter(({ seq }) => seq === 0).map(({ leadId, seq }) => ({ leadId, seq, target }));
  expect(damaged.length).toBeGreaterThan(5);
  expect(damaged.length).toBeLessThan(100);
  await inbox.lease(damaged);
  await expect(all(inbox.list({ leadId: damaged[0]?.leadId }))).rejects.toThrow();
  await inbox.release(damaged.map((lease) => ({ ...lease, retryAt: clock.now() + 1000 })));
  expect(await inbox.due(target, clock.now(), 2000)).toEqual(due.filter(({ seq }) => seq !== 0));
});

it('says so of a part of what is due that was damaged since it was opened', async () => {
  const Libsql = await loadLibsql();
  const database = new Libsql(await damagedInbox('work', 0, true), { timeout: 0 });
  onTestFinished(() => database.close());
  const damage: unknown[] = [];
  const { due, next } = outstandingLeads(database, '', (error) => damage.push(error));
  const target = storedNamesOf(database)('forward http://a.test/');
  expect(due(target, clock.now(), 2000).length).toBeLessThan(ids.length + sharingIds.length);
  const found = damage.length;
  expect(found).toBeGreaterThan(0);
  expect(next(target)).toBe(1);
  expect(damage.length).toBeGreaterThan(found);
});

it('names what is due beside leads on a damaged page of what is outstanding, earliest first', async () => {
  const path = await damagedInbox('work', 0, true);
  const target = 'forward http://a.test/';
  const inbox = await open(path, { targets: [target] });
  expect(await inbox.nextDueAt(target)).toBe(1);
  const due = await inbox.due(target, clock.now(), 2000);
  const named = due.map(({ leadId }) => leadId).filter((id) => ids.includes(id));
  expect(named.length).toBeGreaterThan(900);
  expect(named.length).toBeLessThan(ids.length);
  expect(named).toEqual(ids.filter((id) => named.includes(id)));
  expect(await inbox.due(target, clock.now(), 2)).toEqual(due.slice(0, 2));
  expect(await inbox.due(target, 0, 2)).toEqual([]);
  await inbox.lease(due.map((one) => ({ ...one, target })));
});
