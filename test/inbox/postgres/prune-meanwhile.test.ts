import { describe, expect, it } from 'vitest';
import { monthOf } from '../../../src/inbox/postgres/migrate.ts';
import { newDatabase } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, deliveryOf } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

describe.skipIf(address === undefined)('pruning while a lead gets outstanding', () => {
  /** An old lead that all targets have had is delivered again, for one that has not, while `prune` drops what is old. */
  async function pruneDuringTake(before: number) {
    if (address === undefined) throw new Error('no database');
    const inbox = inboxIn(address, { database: await newDatabase(address) });
    const waiting = async () =>
      (
        await inbox.client`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).length;
    const receiver = await open(inbox.location());
    const old = monthOf(clock.now()).start;
    const delivered = (id: string, n: number, receivedAt: number) =>
      arrivalOf({ id }, { delivery: deliveryOf(`{"id":"${id}","n":${n}}`, { receivedAt }) });
    await receiver.take([delivered('a', 1, old), delivered('b', 1, old)]);
    const later = monthOf(clock.now(), 1).start;
    const withTarget = await open(inbox.location(), { targets: ['t'], leaseMs: 1 });
    const { taken, pruned } = await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`SELECT FROM "${inbox.name}".ids WHERE id = 'b' FOR UPDATE`);
      // It has locked the id of one lead, and waits for the other's.
      const taking = withTarget.take([delivered('a', 2, later), delivered('b', 2, later)]);
      await until(async () => (await waiting()) === 1, 'the writer that waits');
      let isOver = false;
      const pruning = receiver.prune(before).finally(() => (isOver = true));
      await until(async () => isOver || (await waiting()) === 2, 'pruning, or that it waits');
      return { taken: taking, pruned: pruning };
    });
    expect((await taken).map(({ kind }) => kind)).toEqual(['pending', 'pending']);
    const dropped = await pruned;
    const bodies = (await all(receiver.list({}))).map(({ body }) => Buffer.from(body).toString());
    return { dropped, bodies: bodies.toSorted(), inbox: withTarget };
  }

  const repeats = ['{"id":"a","n":2}', '{"id":"b","n":2}'];

  it('keeps its deliveries, where it drops single ones', async () => {
    const { dropped, bodies, inbox } = await pruneDuringTake(monthOf(clock.now()).start + 1);
    expect(dropped).toBe(0);
    expect(bodies).toEqual(['{"id":"a","n":1}', repeats[0], '{"id":"b","n":1}', repeats[1]]);
    expect(await all(inbox.unsettled('t'))).toHaveLength(2);
  });

  it('keeps the delivery that made it outstanding, where it drops a month', async () => {
    const { bodies, inbox } = await pruneDuringTake(monthOf(clock.now(), 1).start);
    expect(bodies).toEqual(expect.arrayContaining(repeats));
    const outstanding = await all(inbox.unsettled('t'));
    expect(outstanding.map(({ leadId }) => leadId)).toEqual(['a', 'b']);
    expect(await inbox.lease(outstanding.map((one) => ({ ...one, target: 't' })))).toMatchObject([
      { state: 'leased' },
      { state: 'leased' },
    ]);
    expect(await inbox.settle(outstanding.map((one) => ({ ...one, target: 't' })))).toEqual(
      expect.not.arrayContaining(['pending']),
    );
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });
});

describe.skipIf(address === undefined)('a month that is dropped', () => {
  const old = monthOf(clock.now()).start;
  const border = monthOf(clock.now(), 1).start;

  /** A lead of that month that was given up. */
  async function withDead() {
    if (address === undefined) throw new Error('no database');
    const database = await newDatabase(address);
    const inbox = inboxIn(address, { database });
    await inbox.client.unsafe(`ALTER DATABASE "${database}" SET deadlock_timeout = '100ms'`);
    const receiver = await open(inbox.location(), { targets: ['t'], leaseMs: 60_000 });
    const delivery = deliveryOf('{"id":"a"}', { receivedAt: old });
    const [taken] = await receiver.take([arrivalOf({ id: 'a' }, { delivery })]);
    if (taken?.kind !== 'pending') throw new Error('not pending');
    await receiver.release([{ ...taken, target: 't', dead: true }]);
    const waits = (what: string) =>
      until(
        async () =>
          (
            await inbox.client`SELECT FROM pg_stat_activity WHERE datname = current_database()
              AND wait_event_type = 'Lock' AND query LIKE ${`%${what}%`}`
          ).length > 0,
        `a process that waits in ${what}`,
      );
    return { inbox, receiver, waits };
  }

  it('is counted while receivers go on', async () => {
    const { inbox, receiver, waits } = await withDead();
    const { pruning } = await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`LOCK TABLE "${inbox.name}".removed IN EXCLUSIVE MODE`);
      const pruning = receiver.prune(border);
      await waits('INSERT INTO');
      const delivery = deliveryOf('{"id":"b"}', { receivedAt: border });
      const locked = await inbox.query(
        `SELECT FROM pg_locks WHERE relation = 'S.deliveries'::regclass AND mode = 'AccessExclusiveLock'`,
      );
      expect(locked).toHaveLength(0);
      expect(await takeOne(receiver, arrivalOf({ id: 'b' }, { delivery }))).toMatchObject({
        kind: 'pending',
      });
      return { pruning };
    });
    expect(await pruning).toBe(1);
    const removed = await inbox.query('SELECT verdict, sum(count)::int AS count FROM S.removed GROUP BY 1');
    expect(removed).toEqual([{ verdict: 'pending', count: 1 }]);
  });

  it('counts nothing of what is kept', async () => {
    const { inbox, receiver } = await withDead();
    await receiver.beginAnew(['a']);
    expect(await receiver.prune(border)).toBe(0);
    expect(await all(receiver.list({}))).toHaveLength(1);
    expect(await inbox.query('SELECT FROM S.removed WHERE count <> 0')).toHaveLength(0);
    const counts = (await all(receiver.counts({ since: old, until: border, partMs: border - old }))).flat();
    expect(counts.map(({ count, isRemoved }) => [count, isRemoved])).toEqual([[1, false]]);
  });

  it('leaves nothing to begin anew of a lead without a delivery', async () => {
    const { inbox, receiver } = await withDead();
    expect(await receiver.beginAnew(['a'])).toBe(1);
    await inbox.query('DELETE FROM S.deliveries');
    expect(await receiver.beginAnew(['a'])).toBe(0);
  });

  it('is dropped all the same after a conflict with who holds what is outstanding and asks for deliveries', async () => {
    const { inbox, receiver, waits } = await withDead();
    const { pruning } = await inbox.client.begin(async (blocking) => {
      // So that the other one gives in.
      await blocking.unsafe(`SET LOCAL deadlock_timeout = '10s'`);
      await blocking.unsafe(`LOCK TABLE "${inbox.name}".outstanding IN ROW EXCLUSIVE MODE`);
      const pruning = receiver.prune(border);
      await waits('outstanding IN SHARE MODE');
      await blocking.unsafe(`LOCK TABLE ONLY "${inbox.name}".deliveries IN ACCESS SHARE MODE`);
      return { pruning };
    });
    expect(await pruning).toBe(1);
    expect(await all(receiver.list({}))).toHaveLength(0);
  });

  it('is waited for by who begins anew before it holds what is outstanding', async () => {
    const { inbox, receiver, waits } = await withDead();
    const { begun } = await inbox.client.begin(async (blocking) => {
      await blocking.unsafe(`LOCK TABLE ONLY "${inbox.name}".deliveries IN ACCESS EXCLUSIVE MODE`);
      const begun = receiver.beginAnew(['a']);
      await waits('deliveries');
      await blocking.unsafe(`LOCK TABLE "${inbox.name}".outstanding IN SHARE MODE NOWAIT`);
      return { begun };
    });
    await begun;
    expect(await receiver.outstanding()).toMatchObject([{ leads: 1, dead: 0 }]);
  });

  it('takes with it no body of a lead that is begun anew meanwhile', async () => {
    const { inbox, receiver, waits } = await withDead();
    await inbox.query(`CREATE FUNCTION S.wait() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END';
      CREATE TRIGGER waits BEFORE INSERT ON S.deliveries FOR EACH STATEMENT EXECUTE FUNCTION S.wait()`);
    const { pruning, begun } = await inbox.client.begin(async (blocking) => {
      await blocking`SELECT pg_advisory_xact_lock(42)`;
      const pruning = receiver.prune(border);
      await waits('moved');
      let isBegun = false;
      const begun = receiver.beginAnew(['a']).finally(() => (isBegun = true));
      await Promise.race([begun, waits('LOCK TABLE ONLY').catch(() => undefined)]);
      expect(isBegun).toBe(false);
      return { pruning, begun };
    });
    await Promise.all([pruning, begun]);
    expect(
      await inbox.query(`SELECT FROM S.outstanding AS o WHERE NOT dead
        AND NOT EXISTS (SELECT FROM S.deliveries AS d WHERE d.seq = o.seq)`),
    ).toHaveLength(0);
  });
});
