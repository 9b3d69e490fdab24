import { describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeStored } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { inboxIn } from './database.ts';

const shared = await sharedPostgres();

/** Of each table. */
const grownRows = 20_000;

describe.skipIf(shared === undefined)('plans that a session of the database keeps', () => {
  const address = shared ?? { version: 0, port: 0, socketDirectory: '', password: '' };

  it('read no whole table once it has grown, though they were made while it was known to be empty', async () => {
    const database = inboxIn(address);
    await (await open(database.location())).close();
    const tables = await database.client<{ name: string }[]>`SELECT relname AS name FROM pg_class
      WHERE relnamespace = ${database.name}::regnamespace AND relkind = 'r'`;
    for (const { name } of tables) {
      await database.query(`ALTER TABLE S.${name} SET (autovacuum_enabled = off)`);
      await database.query(`VACUUM ANALYZE S.${name}`);
    }
    const receiver = await open(database.location(), { targets: ['t'] });
    const work = async (id: string): Promise<void> => {
      const lease = { ...(await takeStored(receiver, arrivalOf({ id }, { nonce: id }))), target: 't' };
      await receiver.lease([lease]);
      await receiver.release([lease]);
      await takeStored(receiver, arrivalOf({ id }));
      const result = { ok: true, answer: '', durationMs: 1, at: 1 };
      expect(await receiver.settle([{ ...lease, result }])).toEqual(['accepted']);
    };
    // So often that a session would keep plans by itself.
    for (let n = 0; n < 20; n += 1) await work(`empty-${n}`);
    for (const rows of [
      `ids SELECT convert_to('id' || n, 'UTF8'), n, 1000, '', 1, true, true`,
      `outstanding (lead, target, seq, first_at, owner, lease) SELECT convert_to('id' || n, 'UTF8'), '', n, 1000, '', 0`,
      `erased SELECT convert_to('id' || n, 'UTF8'), n, 1000, 1`,
      `nonces SELECT convert_to('id' || n, 'UTF8'), '', 0`,
      `deliveries (seq, received_at, verdict, status, attempt, source, remote, method, path, headers, body)
        SELECT n, 1000, 'accepted', 200, 1, 'push', '', '', '', '', ''`,
    ]) {
      await database.query(`INSERT INTO S.${rows} FROM generate_series(1000, 1000 + ${grownRows}) AS n`);
    }
    for (let n = 0; n < 20; n += 1) await work(`grown-${n}`);
    await receiver.close();
    // What a session has read is known to others when it ends.
    const sessions = () =>
      database.client`SELECT pid FROM pg_stat_activity WHERE query LIKE ${`%${database.name}%`} AND pid <> pg_backend_pid()`;
    await expect.poll(sessions).toHaveLength(0);
    const whole = await database.client`SELECT relname, seq_tup_read FROM pg_stat_user_tables
      WHERE schemaname = ${database.name} AND seq_tup_read >= ${grownRows / 16}`;
    expect(whole).toEqual([]);
  }, 60_000);
});
