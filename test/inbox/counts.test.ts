import { describe, expect, it } from 'vitest';
import type { Arrival, Inbox, RejectedDelivery } from '../../src/inbox/inbox.ts';
import { maxRejectedKept, maxRepeatsKept } from '../../src/inbox/store-options.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { open, stores, takeOne, whileTimePasses } from './stores.ts';
import { arrivalOf, deliveryOf } from './support.ts';

const minute = 60_000;
const day = 86_400_000;
const week = { since: 0, until: 8 * day, partMs: day };

/** As `PART VERDICT [removed]`. */
async function sums(inbox: Inbox, query = week): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for await (const step of inbox.counts(query)) {
    for (const { part, verdict, isRemoved, count } of step) {
      const key = `${part} ${verdict}${isRemoved ? ' removed' : ''}`;
      found[key] = (found[key] ?? 0) + count;
    }
  }
  return found;
}

const at = (receivedAt: number, id: string) =>
  arrivalOf({ id }, { delivery: deliveryOf(JSON.stringify({ id }), { receivedAt }) });

const refused = (receivedAt: number) => ({
  delivery: deliveryOf('no', { receivedAt }),
  rejection: rejection('not_json', 'no'),
});

const sizes = process.env['LEADS_FAULTS'] === 'full' ? [1, 20_001, 200_000] : [1, 20_001];

describe.each(stores)('counts in $name', ({ newLocation }) => {
  it('put each delivery into its part', async () => {
    const inbox = await open(newLocation());
    expect(await sums(inbox)).toEqual({});
    await inbox.take([at(0, 'a'), at(day - 1, 'b'), at(day, 'c'), at(8 * day - 1, 'd'), at(8 * day, 'e')]);
    await takeOne(inbox, { ...at(day + 1, 'a'), source: 'backfill' });
    await inbox.reject([refused(day + 2)]);
    expect(await sums(inbox)).toEqual({
      '0 accepted': 2,
      '1 accepted': 1,
      '1 duplicate': 1,
      '1 rejected': 1,
      '7 accepted': 1,
    });
  });

  it.each(sizes)(
    'are those of all of %i deliveries over eight days, whatever is removed of them',
    async (size) => {
      const inbox = await open(newLocation());
      const expected: Record<string, number> = {};
      const count = (part: number, verdict: string): void => {
        expected[`${part} ${verdict}`] = (expected[`${part} ${verdict}`] ?? 0) + 1;
      };
      let [arrivals, rejected] = [[] as Arrival[], [] as RejectedDelivery[]];
      for (let i = 0; i < size; i += 1) {
        const receivedAt = Math.floor((i * 8 * day) / size);
        const part = Math.floor(receivedAt / day);
        if (i % 10 === 9) rejected.push(refused(receivedAt));
        else arrivals.push(at(receivedAt, `lead-${i}`));
        count(part, i % 10 === 9 ? 'rejected' : 'accepted');
        if (arrivals.length < 500 && i < size - 1) continue;
        await inbox.take(arrivals);
        await inbox.reject(rejected);
        [arrivals, rejected] = [[], []];
      }
      const all = async (): Promise<Record<string, number>> => {
        const found: Record<string, number> = {};
        for (const [key, number] of Object.entries(await sums(inbox))) {
          const name = key.replace(' removed', '');
          found[name] = (found[name] ?? 0) + number;
        }
        return found;
      };
      expect(await all()).toEqual(expected);
      await inbox.erase({ leadIds: ['lead-0'], rejected: [] });
      await whileTimePasses(inbox.prune(3 * day));
      expect(await all()).toEqual(expected);
    },
    300_000,
  );

  it('have what was trimmed, pruned or erased, by the minute', async () => {
    const inbox = await open(newLocation());
    const flood = Array.from({ length: maxRejectedKept + 30 }, (_, i) => refused(i < 20 ? 1 : day));
    for (let i = 0; i < flood.length; i += 500) await inbox.reject(flood.slice(i, i + 500));
    expect(await sums(inbox)).toEqual({
      '0 rejected removed': 20,
      '1 rejected removed': 10,
      '1 rejected': maxRejectedKept,
    });
    const repeats = Array.from({ length: maxRepeatsKept + 4 }, (_, i) => at(3 * minute + i, 'a'));
    for (const repeat of repeats) await takeOne(inbox, repeat);
    await takeOne(inbox, at(3 * minute, 'b'));
    const before = await sums(inbox, { since: 2 * minute, until: 4 * minute, partMs: minute });
    expect(before).toEqual({ '1 accepted': 2, '1 duplicate': maxRepeatsKept, '1 duplicate removed': 3 });
    await inbox.erase({ leadIds: ['b'], rejected: [] });
    await whileTimePasses(inbox.prune(day));
    expect(await sums(inbox)).toEqual({
      '0 rejected removed': 20,
      '0 accepted removed': 2,
      '0 duplicate removed': maxRepeatsKept + 3,
      '1 rejected removed': 10,
      '1 rejected': maxRejectedKept,
    });
    const removed = (await inbox.removedCounts({ since: 0, until: day })).toSorted(
      (a, b) => a.count - b.count,
    );
    const ofLead = { reason: undefined, source: 'push' };
    expect(removed).toEqual([
      { verdict: 'accepted', ...ofLead, isRepeat: false, count: 2 },
      { verdict: 'rejected', reason: 'not_json', source: 'push', isRepeat: false, count: 20 },
      { verdict: 'duplicate', ...ofLead, isRepeat: true, count: maxRepeatsKept + 3 },
    ]);
  });
});
