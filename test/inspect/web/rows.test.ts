import { describe, expect, it } from 'vitest';
import { countTicks, timeTicks } from '../../../src/inspect/web/chart/ticks.ts';
import { keepNewest, withPage } from '../../../src/inspect/web/state/rows.ts';
import { rowOf, rowsOf } from './row-of.ts';

describe('rows', () => {
  it('drop the oldest of many, and know where to read on', () => {
    expect(keepNewest({ rows: rowsOf(5, 4, 3), next: null }, 2)).toEqual({ rows: rowsOf(5, 4), next: 4 });
  });

  it('are those of a page in its place, with the ones above and below it', () => {
    const list = { rows: rowsOf(9, 8, 7, 6, 5, 4), next: 4 };
    const changed = rowOf(8, { verdict: 'duplicate' });
    expect(withPage(list, 9, { rows: [changed, rowOf(6)], next: 6 })).toEqual({
      rows: [rowOf(9), changed, ...rowsOf(6, 5, 4)],
      next: 4,
    });
    expect(withPage(list, Infinity, { rows: rowsOf(11, 10, 9), next: 9 })).toEqual({
      rows: rowsOf(11, 10, 9, 8, 7, 6, 5, 4),
      next: 4,
    });
  });

  it('are all of a page behind which nothing comes', () => {
    const list = { rows: rowsOf(9, 8, 7), next: 7 };
    expect(withPage(list, 9, { rows: rowsOf(8), next: null })).toEqual({ rows: rowsOf(9, 8), next: null });
  });

  it('drop what is older than a page where others may be between them', () => {
    const list = { rows: rowsOf(9, 8), next: 8 };
    expect(withPage(list, Infinity, { rows: rowsOf(40, 30), next: 30 })).toEqual({
      rows: rowsOf(40, 30),
      next: 30,
    });
  });
});

describe('ticks', () => {
  it('count in whole numbers', () => {
    expect(countTicks(0)).toEqual([0, 1]);
    expect(countTicks(3)).toEqual([0, 1, 2, 3]);
    expect(countTicks(556)).toEqual([0, 200, 400, 600]);
  });

  it('are at round times, as many as have room', () => {
    const since = new Date(2026, 0, 31, 22, 7).getTime();
    const texts = (width: number) => timeTicks(since, since + 3 * 3_600_000, width).map(({ text }) => text);
    expect(texts(400)).toEqual(['23:00', '1 Feb', '01:00']);
    expect(texts(100)).toEqual(['1 Feb']);
  });
});
