import { describe, expect, it } from 'vitest';
import { noFilter } from '../../../src/inspect/web/state/address.ts';
import { DeliveryList } from '../../../src/inspect/web/state/delivery-list.ts';
import type { WirePage, WireRow } from '../../../src/inspect/wire.ts';
import { rowOf, rowsOf } from './row-of.ts';

interface Asked {
  readonly path: string;
  readonly answer: (rows: readonly WireRow[], next: number | null) => Promise<void>;
}

/** A list whose requests are answered by the test. */
function listWithRequests() {
  const asked: Asked[] = [];
  const get = <Answer>(path: string): Promise<Answer> =>
    new Promise((resolve) => {
      asked.push({
        path: path.replace('/api/deliveries?', ''),
        async answer(rows, next) {
          const page: WirePage = { rows, next };
          resolve(page as Answer);
          await new Promise(setImmediate);
        },
      });
    });
  const aim = { isAt: false };
  const list = new DeliveryList({
    api: { get },
    mustRowsStay: () => aim.isAt,
    onChange: () => undefined,
  });
  return {
    aim,
    list,
    asked,
    seqs: () => list.rows.map(({ seq }) => seq),
    shown: async (rows: readonly WireRow[], next: number | null): Promise<void> => {
      void list.show(noFilter);
      await asked.at(-1)?.answer(rows, next);
    },
  };
}

/** A whole page, newest first. */
const pageFrom = (newest: number): WireRow[] => rowsOf(...Array.from({ length: 100 }, (_, i) => newest - i));

describe('the list of deliveries', () => {
  it('shows what arrived above the rows that it had', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(3, 2), null);
    const refreshed = list.refresh();
    await asked[1]?.answer(rowsOf(5, 4, 3, 2), null);
    expect(seqs()).toEqual([5, 4, 3, 2]);
    expect(await refreshed).toBe(true);
  });

  it('drops the answer to a filter that is not the one any more', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    void list.show({ ...noFilter, verdicts: ['rejected'] });
    await asked[1]?.answer([rowOf(2, { verdict: 'rejected' })], null);
    await asked[0]?.answer(rowsOf(3, 1), null);
    expect(seqs()).toEqual([2]);
  });

  it('shows older deliveries page by page, and the way back', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(pageFrom(250), 151);
    void list.showOlder();
    void list.showOlder();
    expect(asked.map(({ path }) => path)).toEqual(['limit=100', 'before=151&limit=100']);
    await asked[1]?.answer(pageFrom(150), 51);
    expect([seqs()[0], list.hasNewer]).toEqual([150, true]);
    // The inbox changed: the page stays, and what arrived above the first page is counted.
    void list.refresh();
    await asked[2]?.answer(pageFrom(150), 51);
    expect(asked.slice(2).map(({ path }) => path)).toEqual(['before=151&limit=100', 'after=250&limit=100']);
    await asked[3]?.answer(rowsOf(251), null);
    expect([seqs()[0], list.unseen]).toEqual([150, 1]);
    void list.showNewer();
    await asked[4]?.answer(pageFrom(251), 152);
    expect([asked[4]?.path, seqs()[0]]).toEqual(['limit=100', 251]);
    expect(list).toMatchObject({ hasNewer: false, unseen: 0 });
  });

  it('searches on until a page is full or all is looked through, and shows what it has so far', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show({ ...noFilter, text: 'ada' });
    await asked[0]?.answer([], 500);
    expect(asked[1]?.path).toBe('before=500&limit=100&text=ada');
    await asked[1]?.answer(rowsOf(300), 200);
    expect([seqs(), list.isLoading]).toEqual([[300], true]);
    expect(asked[2]?.path).toBe('before=200&limit=99&text=ada');
    // An arrival does not start it over.
    expect(await list.refresh()).toBe(false);
    await asked[2]?.answer(rowsOf(7), null);
    expect([seqs(), list.isLoading, asked.length]).toEqual([[300, 7], false, 3]);
  });

  it('counts what arrives while it is aimed at, moves no row, and shows it afterwards', async () => {
    const { aim, list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    aim.isAt = true;
    void list.refresh();
    expect(asked[1]?.path).toBe('before=3&limit=100');
    await asked[1]?.answer(rowsOf(2, 1), null);
    expect(asked[2]?.path).toBe('after=2&limit=100');
    await asked[2]?.answer(rowsOf(99, 98), 98);
    expect(list).toMatchObject({ unseen: 2, hasMoreUnseen: true });
    expect([seqs(), list.canShowUnseen]).toEqual([[2, 1], false]);
    aim.isAt = false;
    expect(list.canShowUnseen).toBe(true);
    void list.refresh();
    await asked[3]?.answer(rowsOf(99, 98, 2, 1), null);
    expect([list.unseen, seqs()]).toEqual([0, [99, 98, 2, 1]]);
  });

  it('moves no row that is aimed at by the time that it is read', async () => {
    const { aim, list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    const refreshed = list.refresh();
    aim.isAt = true;
    await asked[1]?.answer(rowsOf(3, 2, 1), null);
    expect([await refreshed, seqs()]).toEqual([false, [2, 1]]);
  });

  it('shows another filter that is chosen while it reads again', async () => {
    const { aim, list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    aim.isAt = true;
    const refreshed = list.refresh();
    void list.show({ ...noFilter, verdicts: ['rejected'] });
    await asked[1]?.answer(rowsOf(2, 1), null);
    expect(await refreshed).toBe(false);
    await asked[2]?.answer(rowsOf(1), null);
    expect([seqs(), list.isLoading]).toEqual([[1], false]);
  });
});
