import { describe, expect, it } from 'vitest';
import { newDatabase } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf, deliveryOf } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

const old = Date.UTC(2026, 0, 1);
const later = Date.UTC(2026, 1, 1);

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
    const delivered = (id: string, n: number, receivedAt: number) =>
      arrivalOf({ id }, { delivery: deliveryOf(`{"id":"${id}","n":${n}}`, { receivedAt }) });
    await receiver.take([delivered('a', 1, old), delivered('b', 1, old)]);
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
    const { dropped, bodies, inbox } = await pruneDuringTake(old + 1);
    expect(dropped).toBe(0);
    expect(bodies).toEqual(['{"id":"a","n":1}', repeats[0], '{"id":"b","n":1}', repeats[1]]);
    expect(await all(inbox.unsettled('t'))).toHaveLength(2);
  });

  it('keeps the delivery that made it outstanding, where it drops all before that', async () => {
    const { bodies, inbox } = await pruneDuringTake(later);
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

describe.skipIf(address === undefined)('a lead that was given up, and is pruned', () => {
  async function withDead() {
    if (address === undefined) throw new Error('no database');
    const inbox = inboxIn(address);
    const receiver = await open(inbox.location(), { targets: ['t'], leaseMs: 60_000 });
    const delivery = deliveryOf('{"id":"a"}', { receivedAt: old });
    const [taken] = await receiver.take([arrivalOf({ id: 'a' }, { delivery })]);
    if (taken?.kind !== 'pending') throw new Error('not pending');
    await receiver.release([{ ...taken, target: 't', dead: true }]);
    return { inbox, receiver };
  }

  it('is counted as removed', async () => {
    const { inbox, receiver } = await withDead();
    expect(await receiver.prune(later)).toBe(1);
    const removed = await inbox.query('SELECT verdict, sum(count)::int AS count FROM S.removed GROUP BY 1');
    expect(removed).toEqual([{ verdict: 'pending', count: 1 }]);
    expect(await receiver.beginAnew(['a'])).toBe(0);
  });

  it('is kept, and not counted, once it begins anew', async () => {
    const { inbox, receiver } = await withDead();
    await receiver.beginAnew(['a']);
    expect(await receiver.prune(later)).toBe(0);
    expect(await all(receiver.list({}))).toHaveLength(1);
    expect(await inbox.query('SELECT FROM S.removed WHERE count <> 0')).toHaveLength(0);
    const counts = (await all(receiver.counts({ since: old, until: later, partMs: later - old }))).flat();
    expect(counts.map(({ count, isRemoved }) => [count, isRemoved])).toEqual([[1, false]]);
  });

  it('leaves nothing to begin anew of a lead without a delivery', async () => {
    const { inbox, receiver } = await withDead();
    expect(await receiver.beginAnew(['a'])).toBe(1);
    await inbox.query('DELETE FROM S.deliveries');
    expect(await receiver.beginAnew(['a'])).toBe(0);
  });
});
