import { describe, expect, it, test } from 'vitest';
import { BucketCounts, bucketStart, type BucketUnit } from '../../src/stats/time-buckets.ts';

const time = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

function counted(unit: BucketUnit | undefined, ...times: readonly string[]): BucketCounts {
  const counts = new BucketCounts(unit);
  for (const one of times) counts.add(time(one));
  return counts;
}

describe('a bucket', () => {
  test.each([
    { at: '2026-01-15T12:34:56Z', unit: 'hour', start: '2026-01-15T12:00' },
    { at: '2026-01-15T23:59:59.999Z', unit: 'day', start: '2026-01-15T00:00' },
    // A zone moves it into the next day in UTC.
    { at: '2026-01-15T23:30:00-05:00', unit: 'day', start: '2026-01-16T00:00' },
    { at: '2026-01-18T23:59:59Z', unit: 'week', start: '2026-01-12T00:00' },
    { at: '2026-01-19T00:00:00Z', unit: 'week', start: '2026-01-19T00:00' },
    { at: '1969-12-31T23:00:00Z', unit: 'week', start: '1969-12-29T00:00' },
  ] as const)('of $at by the $unit begins at $start', ({ at, unit, start }) => {
    expect(iso(bucketStart(time(at), unit))).toBe(start);
  });
});

describe('a series', () => {
  it('in a zone has the days that it has, of 23, 24 or 25 hours, and each hour once', () => {
    const listed = (unit: BucketUnit, from: string, to: string): string[] => {
      const counts = new BucketCounts(unit, 'Europe/Madrid');
      for (let at = time(from); at < time(to); at += 1_800_000) counts.add(at);
      return counts
        .series(time(from), time(to))
        .buckets.map(({ start, count }) => `${iso(start).slice(5)} ${count / 2}`);
    };
    expect(listed('day', '2026-10-23T22:00Z', '2026-10-26T23:00Z')).toEqual([
      '10-23T22:00 24',
      '10-24T22:00 25',
      '10-25T23:00 24',
    ]);
    expect(listed('week', '2026-03-22T23:00Z', '2026-04-05T22:00Z')).toEqual([
      '03-22T23:00 167',
      '03-29T22:00 168',
    ]);
    expect(listed('hour', '2026-03-28T23:00Z', '2026-03-29T22:00Z')).toHaveLength(23);
  });

  it('lists empty buckets, from the beginning of the window to its end', () => {
    const counts = counted('day', '2026-01-02T05:00Z', '2026-01-02T06:00Z', '2026-01-04T00:00Z');
    const { buckets } = counts.series(time('2026-01-01T12:00Z'), time('2026-01-06T00:00Z'));
    expect(buckets.map(({ start, count }) => `${iso(start).slice(8, 10)}:${count}`)).toEqual([
      '01:0',
      '02:2',
      '03:0',
      '04:1',
      '05:0',
    ]);
  });

  it('is by the hour up to two days, and by the day over more, unless a unit was chosen', () => {
    const span = ['2026-01-01T00:00Z', '2026-01-02T23:00Z'] as const;
    expect(counted(undefined, ...span).series(undefined, undefined).unit).toBe('hour');
    expect(counted(undefined, ...span, '2026-01-04T00:00Z').series(undefined, undefined).unit).toBe('day');
    expect(counted('hour', ...span, '2026-01-04T00:00Z').series(undefined, undefined).unit).toBe('hour');
    expect(counted('week', ...span).series(undefined, undefined).buckets).toHaveLength(1);
  });

  it('of no leads in no window is empty, and in a window all zero', () => {
    expect(counted(undefined).series(undefined, undefined).buckets).toEqual([]);
    const { buckets } = counted(undefined).series(time('2026-01-01T00:00Z'), time('2026-01-01T03:00Z'));
    expect(buckets.map(({ count }) => count)).toEqual([0, 0, 0]);
  });

  it('of leads that are centuries apart lists no empty bucket', () => {
    const counts = counted('hour', '0001-01-01T00:00:00Z', '2026-01-01T00:00Z', '9999-12-31T23:00:00Z');
    expect(counts.series(undefined, undefined).buckets.map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  it('in too many buckets is counted by a longer unit, and no lead is lost', () => {
    const counts = new BucketCounts('hour');
    for (let i = 0; i < 150_000; i += 1) counts.add(i * 3_600_000);
    const { unit, buckets } = counts.series(undefined, undefined);
    expect(unit).toBe('day');
    expect(counts.isLengthened).toBe(true);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(150_000);
  });
});
