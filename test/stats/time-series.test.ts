import { describe, expect, it, test } from 'vitest';
import { bucketStart, type BucketUnit, type Series, TimeCounts } from '../../src/stats/time-series.ts';

const time = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

function seriesOf(
  unit: BucketUnit | undefined,
  times: readonly string[],
  window: readonly [from?: string, to?: string] = [],
): Series {
  const counts = new TimeCounts();
  for (const text of times) counts.add(time(text));
  const [from, to] = window.map((text) => time(text ?? ''));
  return counts.series(unit, from, to);
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
      const counts = new TimeCounts('Europe/Madrid');
      for (let at = time(from); at < time(to); at += 1_800_000) counts.add(at);
      return counts
        .series(unit, time(from), time(to))
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

  it.each([
    ['back', '2026-04-04T13:00Z', ['13:00 2', '14:00 2', '15:00 1', '15:30 2', '16:30 2']],
    ['forward', '2026-10-03T13:30Z', ['13:30 2', '14:30 2', '15:30 1', '16:00 2', '17:00 2']],
  ])('in a zone whose clocks are set %s by half an hour has half an hour then', (_, from, buckets) => {
    const counts = new TimeCounts('Australia/Lord_Howe');
    for (let i = 0; i < 9; i += 1) counts.add(time(from) + i * 1_800_000);
    const listed = counts.series('hour', time(from), undefined).buckets;
    expect(listed.map(({ start, count }) => `${iso(start).slice(11)} ${count}`)).toEqual(buckets);
  });

  it('lists empty buckets, from the beginning of the window to its end', () => {
    const { buckets } = seriesOf(
      'day',
      ['2026-01-02T05:00Z', '2026-01-02T06:00Z', '2026-01-04T00:00Z'],
      ['2026-01-01T12:00Z', '2026-01-06T00:00Z'],
    );
    expect(buckets.map(({ start, count }) => `${iso(start).slice(8, 10)}:${count}`)).toEqual([
      '01:0',
      '02:2',
      '03:0',
      '04:1',
      '05:0',
    ]);
  });

  it('is by the hour up to two days, by the day up to two months, then by the week, unless a unit was chosen', () => {
    const span = ['2026-01-01T00:00Z', '2026-01-02T23:00Z'] as const;
    expect(seriesOf(undefined, span).unit).toBe('hour');
    expect(seriesOf(undefined, [...span, '2026-01-04T00:00Z']).unit).toBe('day');
    expect(seriesOf(undefined, [...span, '2026-03-05T00:00Z']).unit).toBe('week');
    expect(seriesOf('hour', [...span, '2026-01-04T00:00Z']).unit).toBe('hour');
    expect(seriesOf('week', span).buckets).toHaveLength(1);
  });

  it('of no leads in no window is empty, and in a window all zero', () => {
    expect(seriesOf(undefined, []).buckets).toEqual([]);
    const { buckets } = seriesOf(undefined, [], ['2026-01-01T00:00Z', '2026-01-01T03:00Z']);
    expect(buckets.map(({ count }) => count)).toEqual([0, 0, 0]);
  });

  it('of leads that are centuries apart lists no empty bucket', () => {
    const times = ['0001-01-01T00:00:00Z', '2026-01-01T00:00Z', '9999-12-31T23:00:00Z'];
    expect(seriesOf('hour', times).buckets.map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  it('has every lead, also where there are very many hours', () => {
    const counts = new TimeCounts();
    for (let i = 0; i < 150_000; i += 1) counts.add(i * 3_600_000);
    const { unit, buckets } = counts.series(undefined, undefined, undefined);
    expect(unit).toBe('week');
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(150_000);
  });
});
