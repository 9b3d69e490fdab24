import type { Sql } from 'postgres';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/inbox/postgres/connection/connect.ts';
import { migrate } from '../../../src/inbox/postgres/migrate.ts';
import { migrations } from '../../../src/inbox/postgres/migrations.ts';
import { identifier } from '../../../src/inbox/postgres/sql.ts';
import { FakeClock } from '../../support/clock.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { newDatabase } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { clock, open } from '../stores.ts';
import { all, arrivalOf, ledgerOf, sequencedLedger, unchangedLedger } from '../support.ts';
import { inboxIn } from './database.ts';

const shared = await sharedPostgres();

describe.skipIf(shared === undefined)('the ledger of an inbox on PostgreSQL', () => {
  const address = shared ?? { version: 0, port: 0, socketDirectory: '', password: '' };

  const leads = (from: string, count: number) =>
    Array.from({ length: count }, (_, i) => arrivalOf({ id: `${from}-${i}` }));

  /** Until a transaction waits for what another one holds. */
  const isWaitedFor = (client: Sql): Promise<void> =>
    until(
      async () =>
        (await client`SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`).length > 0,
    );

  it('is one for receivers that store and enter at the same moment', async () => {
    const inbox = inboxIn(address);
    const receivers = await Promise.all(
      Array.from({ length: 4 }, () => open(inbox.location(), { clock: systemClock })),
    );
    await Promise.all(
      receivers.flatMap((receiver, i) =>
        Array.from({ length: 5 }, async (_, round) => {
          await receiver.take([...leads(`${i}-${round}`, 40), ...leads('shared', 3)]);
          await ledgerOf(receiver).sequence();
        }),
      ),
    );
    const [first] = receivers;
    expect(first && (await sequencedLedger(first))).toMatchObject({ ...unchangedLedger, size: 803 });
  });

  it('is grown by one receiver at a time, and by another one once that one has gone', async () => {
    const inbox = inboxIn(address);
    const [first, second] = [new FakeClock(1000), new FakeClock(1000)];
    const one = await open(inbox.location(), { clock: first });
    const other = await open(inbox.location(), { clock: second });
    const size = async (): Promise<number> => (await ledgerOf(one).head()).size;
    const isGrownTo = (leaves: number): Promise<void> => until(async () => (await size()) === leaves);
    /** Looks, sees that another one enters leads, and waits. */
    const standsBy = async (clock: FakeClock): Promise<void> => {
      const before = clock.sleeps.length;
      clock.advance(1000);
      await until(() => clock.sleeps.length > before);
    };
    await ledgerOf(one).sequence();
    await one.take(leads('a', 1));
    first.advance(1000);
    await isGrownTo(1);
    await other.take(leads('b', 1));
    second.advance(1000);
    await isGrownTo(2);
    await one.take(leads('c', 1));
    await standsBy(first);
    expect(await size()).toBe(2);
    await other.take(leads('d', 1));
    second.advance(1000);
    await isGrownTo(4);
    await other.take(leads('e', 1));
    await other.take(leads('f', 1));
    first.advance(1500);
    await standsBy(first);
    expect(await size()).toBe(4);
    first.advance(1500);
    await isGrownTo(6);
  });

  it('has no lead before those in front of it, which a transaction that is under way may still store', async () => {
    const inbox = inboxIn(address);
    const [held, quick] = [await open(inbox.location()), await open(inbox.location())];
    await held.take(leads('known', 1));
    let isEntered = false;
    await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`SELECT FROM "${inbox.name}".ids FOR UPDATE`);
      void held.take([arrivalOf({ id: 'late' }), ...leads('known', 1)]);
      await isWaitedFor(inbox.client);
      await quick.take(leads('quick', 1));
      void ledgerOf(quick)
        .sequence()
        .then(() => (isEntered = true));
      await until(async () => {
        clock.advance(1000);
        return (await ledgerOf(quick).head()).size === 1;
      });
      expect(isEntered).toBe(false);
    });
    await until(() => {
      clock.advance(1000);
      return isEntered;
    });
    expect((await all(ledgerOf(quick).leaves())).flat().map(({ seq }) => seq)).toEqual([1, 2, 4]);
  });

  it('grows as far as the transaction that enters leads sees, not as far as another session saw before', async () => {
    const inbox = inboxIn(address);
    const [one, other] = [await open(inbox.location()), await open(inbox.location())];
    await ledgerOf(one).sequence();
    await one.take(leads('first', 1));
    const pruned: Promise<unknown>[] = [];
    await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`SELECT FROM "${inbox.name}".ledger FOR UPDATE`);
      pruned.push(one.prune(0));
      await isWaitedFor(inbox.client);
      await other.take(leads('second', 1));
    });
    await Promise.all(pruned);
    expect((await ledgerOf(one).head()).size).toBe(2);
  });

  it('begins anew while others store and enter', async () => {
    const inbox = inboxIn(address);
    const hasty = { clock: systemClock };
    const [one, other] = [await open(inbox.location(), hasty), await open(inbox.location(), hasty)];
    const end = new AbortController();
    const storing = (async () => {
      for (let round = 0; !end.signal.aborted; round += 1) {
        await other.take(leads(`round-${round}`, 20));
        await ledgerOf(other).sequence();
      }
    })();
    for (let n = 0; n < 5; n += 1) {
      await ledgerOf(one).sequence();
      await ledgerOf(one).restart(`before ${n}`);
    }
    end.abort();
    await storing;
    const { size, ...found } = await sequencedLedger(one);
    expect(found).toMatchObject(unchangedLedger);
    expect(size).toBe((await all(one.leads({}))).length);
  });

  it('is written by the roles that wrote the inbox before, with leads that were pruned and received before', async () => {
    const inbox = inboxIn(address, { database: await newDatabase(address) });
    const connections = await connect(inbox.location());
    const options = { schema: identifier(inbox.name), now: clock.now() };
    await connections.use((connection) => migrate(connection, { ...options, steps: migrations.slice(0, 3) }));
    const role = `role_${inbox.name}`;
    await inbox.client.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${address.password}';
      GRANT USAGE ON SCHEMA "${inbox.name}" TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${inbox.name}" TO ${role};
      GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "${inbox.name}" TO ${role}`);
    await inbox.query(`INSERT INTO S.ids SELECT convert_to('pruned-' || n, 'UTF8'), nextval('S.delivery_numbers'), 1, sha256('x'), 1, true, true
      FROM generate_series(1, 2500) AS n`);
    await connections.use((connection) => migrate(connection, options));
    await connections.close();
    const receiver = await open(inbox.location({ user: role }));
    await receiver.take(leads('new', 3));
    expect(await sequencedLedger(receiver)).toMatchObject({ ...unchangedLedger, size: 2503, pruned: 2500 });
    await receiver.erase({ leadIds: ['new-1'], rejected: [] });
    expect(await sequencedLedger(receiver)).toMatchObject({ ...unchangedLedger, size: 2503, erased: 1 });
  });
});
