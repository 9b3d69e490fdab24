import { describe, expect, it } from 'vitest';
import type { RemovedCount, Source } from '../../src/inbox/query-types.ts';
import { type CountedDelivery, ReceiptCounts, type ReceiptFigures } from '../../src/stats/receipt-counts.ts';

const receipt = (more: Partial<CountedDelivery>): CountedDelivery => ({
  receivedAt: 0,
  leadId: 'a',
  verdict: 'accepted',
  reason: undefined,
  attempt: 1,
  source: 'push',
  createdAt: undefined,
  ...more,
});

describe('percentiles of delays', () => {
  /** The definition: the smallest value that so many percent do not exceed. */
  const byDefinition = (values: readonly number[], share: number): number | undefined =>
    values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1];

  const figuresOf = (delays: readonly number[]): ReceiptFigures['delayMs'] => {
    const counts = new ReceiptCounts();
    for (const delay of delays) counts.add(receipt({ receivedAt: 200_000, createdAt: 200_000 - delay }));
    return counts.figures(undefined, undefined, 200_000).delayMs;
  };

  it.each([1, 2, 19, 20, 100, 5003])('of %i delays are those of the definition', (amount) => {
    const values = Array.from({ length: amount }, (_, i) => (i * 7919) % 100_003);
    expect(figuresOf(values)).toEqual({
      p50: byDefinition(values, 0.5),
      p90: byDefinition(values, 0.9),
      p95: byDefinition(values, 0.95),
      p99: byDefinition(values, 0.99),
    });
  });

  it('of none are null, and a clock that is behind gives no delay below zero', () => {
    expect(figuresOf([])).toEqual({ p50: null, p90: null, p95: null, p99: null });
    expect(figuresOf([-5000]).p50).toBe(0);
  });
});

describe('the longest gap', () => {
  const gapOf = (times: readonly number[], end: number, before?: number): number | undefined => {
    const counts = new ReceiptCounts();
    for (const receivedAt of times) counts.add(receipt({ receivedAt }));
    return counts.figures(undefined, before, end).longestGap?.ms;
  };

  it('is between two receipts, or from the last one to the end of the window', () => {
    expect(gapOf([90, 60, 50], 100)).toBe(30);
    expect(gapOf([60, 50], 100)).toBe(40);
  });

  it('counts from a moment before the first receipt where that is given, also without a receipt', () => {
    expect(gapOf([90, 80], 100, 10)).toBe(70);
    expect(gapOf([], 100, 10)).toBe(90);
    expect(gapOf([], 100)).toBeUndefined();
  });

  it('is not fooled by receipts that were stored in another order than they came', () => {
    expect(gapOf([100, 40, 60, 20], 100)).toBe(40);
    // A million receipts a second apart, stored up to 30 seconds late, around one silence of 90 seconds.
    const times = Array.from({ length: 200_000 }, (_, i) => 1_000_000 - i - (i > 120_000 ? 90 : 0));
    for (let i = 0; i + 30 < times.length; i += 31) times.splice(i, 30, ...times.slice(i, i + 30).reverse());
    expect(gapOf(times, 1_000_000)).toBe(91);
  });

  it('is no time below zero where the window begins after now', () => {
    expect(new ReceiptCounts().figures(200, undefined, 100).longestGap?.ms).toBe(0);
  });

  it('ignores receipts after the end, as of a receiver that goes on meanwhile', () => {
    expect(gapOf([105, 101, 95], 100)).toBe(5);
  });
});

describe('deliveries', () => {
  it('are counted by verdict and reason, without those that were pulled', () => {
    const counts = new ReceiptCounts();
    counts.add(receipt({ receivedAt: 95, verdict: 'rejected', reason: 'stale', leadId: undefined }));
    counts.add(receipt({ receivedAt: 98, verdict: 'other', reason: 'other_event', leadId: undefined }));
    counts.add(receipt({ receivedAt: 94, source: 'backfill', leadId: 'pulled', createdAt: 1 }));
    counts.add(receipt({ receivedAt: 93, source: 'backfill', verdict: 'duplicate', attempt: 4 }));
    counts.add(receipt({ receivedAt: 90, verdict: 'duplicate', attempt: 3 }));
    counts.add(receipt({ receivedAt: 60, verdict: 'duplicate', attempt: 2 }));
    counts.add(receipt({ receivedAt: 50, createdAt: 40 }));
    counts.add(receipt({ receivedAt: 45, leadId: 'b', createdAt: 15 }));
    expect(counts.figures(undefined, undefined, 100)).toEqual({
      received: 5,
      accepted: 2,
      duplicate: 2,
      rejected: 1,
      byReason: new Map([['stale', 1]]),
      other: 1,
      backfilled: 1,
      delayMs: { p50: 10, p90: 30, p95: 30, p99: 30 },
      attemptsPerLead: 2,
      isAttemptsUpperBound: false,
      longestGap: { start: 60, ms: 30 },
      hasReceipts: true,
      unfilterable: 0,
    });
  });

  it('of a lead whose first one was before the window count as attempts of one lead', () => {
    const counts = new ReceiptCounts();
    counts.add(receipt({ receivedAt: 90, verdict: 'duplicate', attempt: 5 }));
    counts.add(receipt({ receivedAt: 80, verdict: 'duplicate', attempt: 4 }));
    expect(counts.figures(10, undefined, 100).attemptsPerLead).toBe(2);
  });

  const removed = (attempt: number, count: number, source: Source = 'push'): RemovedCount => {
    const isRepeat = attempt > 1;
    return { verdict: isRepeat ? 'duplicate' : 'accepted', reason: undefined, source, isRepeat, count };
  };
  const attemptsOf = (
    stored: readonly CountedDelivery[],
    removedCounts: readonly RemovedCount[],
    start?: number,
  ): readonly [number | null, 'at most' | 'exactly'] => {
    const counts = new ReceiptCounts();
    for (const delivery of stored) counts.add(delivery);
    for (const count of removedCounts) counts.addRemoved(count);
    const { attemptsPerLead, isAttemptsUpperBound } = counts.figures(start, undefined, 100);
    return [attemptsPerLead, isAttemptsUpperBound ? 'at most' : 'exactly'];
  };
  const repeat = receipt({ receivedAt: 90, verdict: 'duplicate', attempt: 2 });

  it('count a lead once whose first one was removed and whose repeat is stored', () => {
    expect(attemptsOf([repeat], [removed(1, 1)])).toEqual([2, 'exactly']);
    expect(attemptsOf([repeat], [removed(1, 3)])).toEqual([4 / 3, 'exactly']);
  });

  it('of removed leads give an upper bound where their first one may be before the window, or was pulled', () => {
    expect(attemptsOf([repeat], [removed(1, 1)], 10)).toEqual([2, 'at most']);
    expect(attemptsOf([], [removed(2, 3)], 10)).toEqual([3, 'at most']);
    expect(attemptsOf([], [removed(2, 3), removed(1, 1, 'backfill')])).toEqual([3, 'at most']);
    expect(attemptsOf([], [removed(1, 4)], 10)).toEqual([1, 'exactly']);
  });

  it('of which there are none have no figure that is not a number', () => {
    expect(new ReceiptCounts().figures(10, undefined, 100)).toMatchObject({
      received: 0,
      attemptsPerLead: null,
      delayMs: { p50: null },
      longestGap: { start: 10, ms: 90 },
      hasReceipts: false,
    });
    expect(new ReceiptCounts().figures(undefined, undefined, 100).longestGap).toBeUndefined();
    expect(new ReceiptCounts().figures(10, 5, 100)).toMatchObject({
      longestGap: { start: 5, ms: 95 },
      hasReceipts: true,
    });
  });
});
