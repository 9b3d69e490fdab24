import { randomInt } from 'node:crypto';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/inbox/check-ledger.ts';
import type { InboxLocation } from '../../src/inbox/open-inbox.ts';
import { full } from '../support/faults.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { inboxIn } from './postgres/database.ts';
import { open } from './stores.ts';
import { deliveryOf, freshFile, ledgerOf, sequencedLedger, unchangedLedger } from './support.ts';

/** Of each way to change an inbox: more than a thousand in all with `LEADS_FAULTS=full`. */
const tries = full ? 125 : 3;

interface Store {
  readonly location: InboxLocation;
  /** `S.` stands for the schema. */
  readonly change: (sql: string) => Promise<unknown>;
  /** Table of ids. */
  readonly ids: string;
  readonly otherBody: string;
  readonly noDigest: string;
}

function sqliteStore(): Store {
  const location = freshFile('inbox.db');
  return {
    location,
    change(sql) {
      const database = new Libsql(location);
      database.exec(sql.replaceAll('S.', ''));
      database.close();
      return Promise.resolve();
    },
    ids: 'leads',
    otherBody: "CAST(replace(CAST(body AS TEXT), 'Ada', 'Eda') AS BLOB)",
    noDigest: 'zeroblob(32)',
  };
}

const postgres = await sharedPostgres();

function postgresStore(): Store {
  const inbox = inboxIn(postgres ?? { version: 0, port: 0, socketDirectory: '', password: '' });
  return {
    location: inbox.location(),
    change: (sql) => inbox.query(sql),
    ids: 'ids',
    otherBody: "convert_to(replace(convert_from(body, 'UTF8'), 'Ada', 'Eda'), 'UTF8')",
    noDigest: "decode(repeat('00', 32), 'hex')",
  };
}

const stores = [
  { name: 'a file', newStore: sqliteStore },
  ...(postgres === undefined ? [] : [{ name: 'PostgreSQL', newStore: postgresStore }]),
];

type Change = (store: Store, seq: number) => string;

const changes: readonly [string, Change][] = [
  ['its body', ({ otherBody }, seq) => `UPDATE S.deliveries SET body = ${otherBody} WHERE seq = ${seq}`],
  ['its time', (_, seq) => `UPDATE S.deliveries SET received_at = received_at + 1 WHERE seq = ${seq}`],
  ['its first time', ({ ids }, seq) => `UPDATE S.${ids} SET first_at = first_at - 1 WHERE seq = ${seq}`],
  ['its source', (_, seq) => `UPDATE S.deliveries SET source = 'backfill' WHERE seq = ${seq}`],
  ['its digest', ({ ids, noDigest }, seq) => `UPDATE S.${ids} SET digest = ${noDigest} WHERE seq = ${seq}`],
  [
    'its id',
    ({ ids }, seq) =>
      `UPDATE S.deliveries SET lead = 'other' WHERE seq = ${seq}; UPDATE S.${ids} SET id = 'other' WHERE seq = ${seq}`,
  ],
  [
    'that it came',
    ({ ids }, seq) =>
      `DELETE FROM S.deliveries WHERE seq = ${seq}; DELETE FROM S.${ids} WHERE seq = ${seq}; DELETE FROM S.leaves WHERE seq = ${seq}`,
  ],
  ['that it came first', (_, seq) => `UPDATE S.deliveries SET attempt = 2 WHERE seq = ${seq}`],
  [
    'that it was taken',
    (_, seq) => `UPDATE S.deliveries SET verdict = 'rejected', reason = 'not_json' WHERE seq = ${seq}`,
  ],
  [
    'its repeat',
    () =>
      `UPDATE S.deliveries SET attempt = 1, verdict = 'accepted', lead = 'other' WHERE seq = ${leads + 1}`,
  ],
  ['that it was entered', (_, seq) => `DELETE FROM S.leaves WHERE seq = ${seq}`],
];

const leads = 30;

describe.each(stores)('the ledger of an inbox in $name', ({ newStore }) => {
  it.each(changes)(
    'shows of a lead that %s was changed',
    async (_, change) => {
      const store = newStore();
      const inbox = await open(store.location);
      const at = (i: number) => deliveryOf(`{"id":"lead-${i}","name":"Ada"}`, { receivedAt: 1000 + i });
      await inbox.take(Array.from({ length: leads }, (_, i) => ({ leadId: `lead-${i}`, delivery: at(i) })));
      await inbox.take([{ leadId: 'lead-0', delivery: at(0) }]);
      expect(await sequencedLedger(inbox)).toMatchObject({ ...unchangedLedger, size: leads });
      const checkpoint = (await checkLedger(inbox, ledgerOf(inbox), leads)).root ?? Buffer.alloc(0);
      const tables = ['deliveries', store.ids, 'leaves'];
      for (const table of tables)
        await store.change(`CREATE TABLE S.kept_${table} AS SELECT * FROM S.${table}`);
      for (let n = 0; n < tries; n += 1) {
        await store.change(change(store, 1 + randomInt(leads)));
        const { root, ...found } = await checkLedger(inbox, ledgerOf(inbox), leads);
        const isRoot = Buffer.compare(root ?? Buffer.alloc(0), checkpoint) === 0;
        expect(isRoot ? found : {}).not.toMatchObject(unchangedLedger);
        for (const table of tables)
          await store.change(`DELETE FROM S.${table}; INSERT INTO S.${table} SELECT * FROM S.kept_${table}`);
      }
      expect(await sequencedLedger(inbox)).toMatchObject({ ...unchangedLedger, size: leads });
    },
    120_000,
  );
});
