import { describe, expect, it } from 'vitest';
import { delayPlace, delayTicks, countTicks } from '../../../src/inspect/web/charts/scales.ts';
import {
  keepNewest,
  matches,
  withChanged,
  withNewer,
  withPage,
} from '../../../src/inspect/web/state/rows.ts';
import type { WireRow } from '../../../src/inspect/wire.ts';
import { rowOf, rowsOf } from './row-of.ts';

const seqs = ({ rows }: { rows: readonly WireRow[] }): number[] => rows.map(({ seq }) => seq);

describe('rows', () => {
  it('take what arrived once, newest first', () => {
    const list = { rows: rowsOf(5, 4), next: 4 };
    expect(seqs(withNewer(list, rowsOf(4, 5, 6, 7)))).toEqual([7, 6, 5, 4]);
  });

  it('drop the oldest of many, and know where to read on', () => {
    expect(keepNewest({ rows: rowsOf(5, 4, 3), next: null }, 2)).toEqual({ rows: rowsOf(5, 4), next: 4 });
  });

  it('change in place', () => {
    const changed = rowOf(4, { verdict: 'pending' });
    expect(withChanged({ rows: rowsOf(5, 4), next: null }, [changed, rowOf(1)]).rows).toEqual([
      rowOf(5),
      changed,
    ]);
  });

  it('lack no target any more once a later delivery brought it their lead', () => {
    const [first, other] = [rowOf(1, { verdict: 'pending', failed: 1 }), rowOf(2, { failed: 1 })];
    const second = rowOf(3, { leadId: 'lead_1', attempt: 2 });
    const settled = [other, { ...first, failed: 0 }];
    expect(withNewer({ rows: [other, first], next: null }, [second]).rows).toEqual([second, ...settled]);
    const pending = { ...second, verdict: 'pending' as const, failed: 1 };
    expect(withChanged({ rows: [pending, other, first], next: null }, [second]).rows).toEqual([
      second,
      ...settled,
    ]);
  });

  it('lose what a page that was read again does not have, and what may be gone behind it', () => {
    const list = { rows: rowsOf(9, 8, 7, 6, 5, 4), next: 4 };
    expect(withPage(list, 9, { rows: rowsOf(8, 6), next: 6 })).toEqual({ rows: rowsOf(9, 8, 6), next: 6 });
  });

  it('match a filter as the server does: since is included, until is not', () => {
    const filter = { verdicts: ['accepted' as const], last: null, since: 4_000, until: 6_000 };
    expect([3, 4, 5, 6].filter((seq) => matches(filter, rowOf(seq)))).toEqual([4, 5]);
    expect(matches({ ...filter, verdicts: ['rejected'] }, rowOf(4))).toBe(false);
  });
});

describe('scales', () => {
  it('count in whole numbers', () => {
    expect(countTicks(0)).toEqual([0, 1]);
    expect(countTicks(3)).toEqual([0, 1, 2, 3]);
    expect(countTicks(556)).toEqual([0, 200, 400, 600]);
  });

  it('include the smallest and the greatest delay', () => {
    const ticks = delayTicks(320, 95_000);
    expect(ticks[0]).toBe(100);
    expect(ticks.at(-1)).toBe(600_000);
    expect(delayPlace(100, ticks)).toBe(0);
    expect(delayPlace(600_000, ticks)).toBe(1);
    expect(delayTicks(1, 1).length).toBeGreaterThan(1);
    expect(delayPlace(1e12, delayTicks(1e12, 1e12))).toBe(1);
  });
});
