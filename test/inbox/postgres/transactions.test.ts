import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { DataError, noteText } from '../../../src/errors.ts';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { newDatabase } from '../../support/postgres/address.ts';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf } from '../support.ts';
import { describeWithPostgres, inboxIn } from './database.ts';

describeWithPostgres('a transaction of the inbox on PostgreSQL', (address) => {
  it('depends on no setting of the role or the database, and waits for the disk', async () => {
    const database = await newDatabase(address);
    const inbox = inboxIn(address, { database });
    const settings = {
      ...{
        synchronous_commit: 'off',
        standard_conforming_strings: 'off',
        bytea_output: 'escape',
        array_nulls: 'off',
      },
      ...{
        default_transaction_isolation: 'serializable',
        default_transaction_deferrable: 'on',
        search_path: "''",
      },
    };
    for (const [name, value] of Object.entries(settings)) {
      await inbox.client.unsafe(`ALTER DATABASE ${database} SET ${name} = ${value}`);
    }
    const receiver = await open(inbox.location(), { nonceLifetimeMs: 1000 });
    await inbox.query(`CREATE TABLE S.seen (sync text, isolation text)`);
    await inbox.query(`ALTER TABLE S.seen OWNER TO leads`);
    await inbox.query(`CREATE FUNCTION S.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO S.seen VALUES (current_setting('synchronous_commit'), current_setting('transaction_isolation'));
      RETURN NULL; END $$`);
    await inbox.query(`CREATE TRIGGER see AFTER INSERT ON S.deliveries EXECUTE FUNCTION S.see()`);
    const ids = ["it's", 'back\\slash', 'x\0y', '\ud800'];
    const taken = await receiver.take(ids.map((id) => arrivalOf({ id }, { nonce: id })));
    expect(taken.map(({ kind }) => kind)).toEqual(ids.map(() => 'accepted'));
    expect((await all(receiver.leads({}))).map(({ leadId }) => leadId)).toEqual(ids);
    expect(await inbox.query('SELECT * FROM S.seen')).toEqual([{ sync: 'on', isolation: 'read committed' }]);
    await inbox.client.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = remote_apply`);
    await receiver.close();
    await takeOne(await open(inbox.location()), arrivalOf({ id: 'stronger' }));
    expect(await inbox.query('SELECT sync FROM S.seen OFFSET 1')).toEqual([{ sync: 'remote_apply' }]);
  });

  // Seed 161 of the simulation: a receiver that reads what waits at its start.
  it('that only reads, and is refused, is an error for people', async () => {
    const inbox = inboxIn(address);
    const receiver = await open(inbox.location());
    await inbox.query(`REVOKE ALL ON S.forwards FROM leads`);
    await inbox.query(`ALTER TABLE S.forwards OWNER TO CURRENT_USER`);
    await expect(all(receiver.waiting('t'))).rejects.toThrow(DataError);
    await expect(receiver.nextDueIn('t')).rejects.toThrow(DataError);
    await expect(receiver.claim('t', 1)).rejects.toThrow(CannotStoreError);
    await expect(receiver.targetCounts()).rejects.toThrow(DataError);
  });

  it('that may not fill a table fails, and makes the receiver not ready, which is said once', async () => {
    const inbox = inboxIn(address);
    const warnings: string[] = [];
    const receiver = await open(inbox.location(), {
      targets: ['forward http://a.test/'],
      warn: (warning) => warnings.push(noteText(warning)),
    });
    await receiver.checkWritable();
    await inbox.query(`ALTER TABLE S.forwards OWNER TO CURRENT_USER`);
    await inbox.query(`GRANT SELECT, UPDATE, DELETE ON S.forwards TO leads`);
    const why = 'permission denied for table forwards';
    for (const id of ['a', 'b']) {
      await expect(takeOne(receiver, arrivalOf({ id }))).rejects.toThrow(why);
      await expect(receiver.checkWritable()).rejects.toThrow(why);
    }
    expect(warnings).toEqual([expect.stringContaining(`store deliveries (${why}): they are answered 503`)]);
    await inbox.query(`GRANT INSERT ON S.forwards TO leads`);
    await receiver.checkWritable();
    expect(await takeOne(receiver, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  });

  it('stores the rest of a batch of which the database does not take a part', async () => {
    const receiver = await open(inboxIn(address).location());
    // Longer than an index takes.
    const poison = randomBytes(6000).toString('latin1');
    const ids = Array.from({ length: 40 }, (_, i) => (i === 17 ? poison : `l${i}`));
    const taken = await Promise.allSettled(ids.map((id) => takeOne(receiver, arrivalOf({ id }))));
    const failed = taken.flatMap((result, i) =>
      result.status === 'rejected' ? [[i, result.reason as unknown]] : [],
    );
    expect(failed).toEqual([[17, expect.any(CannotStoreError)]]);
    expect(await all(receiver.leads({}))).toHaveLength(39);
  });

  it('of two receivers with the same ids in another order waits for the other one, and never for itself', async () => {
    // Deadlocks are counted for a database, and other tests use the shared one.
    const inbox = inboxIn(address, { database: await newDatabase(address) });
    const [here, there] = [await open(inbox.location()), await open(inbox.location())];
    const ids = Array.from({ length: 40 }, (_, i) => `l${i}`);
    const kinds: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const arrivals = ids.map((id) => arrivalOf({ id: `${id}-${round}` }));
      const both = await Promise.all([here.take(arrivals), there.take(arrivals.toReversed())]);
      kinds.push(...both.flat().map(({ kind }) => kind));
    }
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(200);
    expect(kinds.filter((kind) => kind === 'duplicate')).toHaveLength(200);
    expect(
      await inbox.client`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`,
    ).toEqual([{ deadlocks: 0 }]);
  });

  it('that is under way holds no reader back, and shows nothing before it ends', async () => {
    const inbox = inboxIn(address);
    const [held, other] = [await open(inbox.location()), await open(inbox.location())];
    await takeOne(held, arrivalOf({ id: 'known' }));
    const seen = async () => (await all(other.leads({}))).map(({ leadId }) => leadId);
    const late = await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`SELECT FROM "${inbox.name}".leads WHERE id = 'known' FOR UPDATE`);
      const waiting = (writers: number) =>
        until(
          async () =>
            (
              await inbox.client`SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')`
            ).length >= writers,
          `${writers} writers that wait`,
        );
      const first = held.take(['late', 'known'].map((id) => arrivalOf({ id })));
      await waiting(1);
      const second = other.take([arrivalOf({ id: 'later' })]);
      await waiting(2);
      expect(await seen()).toEqual(['known']);
      return { works: [first, second] };
    });
    await Promise.all(late.works);
    expect(await seen()).toEqual(['known', 'late', 'later']);
  });
});
