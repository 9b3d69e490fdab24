import { describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf, deliveryOf } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

const old = Date.UTC(2026, 0, 1);
const later = Date.UTC(2026, 1, 1);

describe.skipIf(address === undefined)('a dead lead that is pruned', () => {
  async function withDead() {
    if (address === undefined) throw new Error('no database');
    const inbox = inboxIn(address);
    const receiver = await open(inbox.location(), { targets: ['t'], claimMs: 60_000 });
    const delivery = deliveryOf('{"id":"a"}', { receivedAt: old });
    await takeOne(receiver, arrivalOf({ id: 'a' }, { delivery }));
    const [a] = await receiver.claim('t', 1);
    if (a === undefined) throw new Error('not claimed');
    await receiver.record([{ ...a, target: 't', outcome: 'dead' }]);
    return { inbox, receiver };
  }

  it('is counted as removed', async () => {
    const { inbox, receiver } = await withDead();
    expect(await receiver.prune(later)).toBe(1);
    const removed = await inbox.query('SELECT verdict, sum(count)::int AS count FROM S.removed GROUP BY 1');
    expect(removed).toEqual([{ verdict: 'accepted', count: 1 }]);
  });

  it('is kept, and not counted, once it is due', async () => {
    const { inbox, receiver } = await withDead();
    await receiver.makeDue(['a']);
    expect(await receiver.prune(later)).toBe(0);
    expect(await all(receiver.list({}))).toHaveLength(1);
    expect(await inbox.query('SELECT FROM S.removed WHERE count <> 0')).toHaveLength(0);
    const counts = (await all(receiver.counts({ since: old, until: later, partMs: later - old }))).flat();
    expect(counts.map(({ count, isRemoved }) => [count, isRemoved])).toEqual([[1, false]]);
  });
});
