import { describe, expect, it } from 'vitest';
import { DeliveryList } from '../../../src/inspect/web/state/delivery-list.ts';
import { noFilter } from '../../../src/inspect/web/state/rows.ts';
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
  const list = new DeliveryList({ get });
  return {
    list,
    asked,
    seqs: () => list.state.value.rows.map(({ seq }) => seq),
    shown: async (rows: readonly WireRow[], next: number | null): Promise<void> => {
      void list.show(noFilter);
      await asked.at(-1)?.answer(rows, next);
    },
  };
}

describe('the list of deliveries', () => {
  it('shows what arrived above the rows that it had', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(3, 2), 2);
    const refreshed = list.refresh(0);
    await asked[1]?.answer(rowsOf(5, 4, 3), 3);
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

  it('reads on where it ends, once at a time', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(9, 8), 8);
    void list.loadOlder();
    void list.loadOlder();
    expect(asked.map(({ path }) => path)).toEqual(['limit=100', 'before=8&limit=100']);
    await asked[1]?.answer(rowsOf(7), null);
    void list.loadOlder();
    expect(asked).toHaveLength(2);
    expect(seqs()).toEqual([9, 8, 7]);
  });

  it('searches on until a delivery is found', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show({ ...noFilter, text: 'ada' });
    await asked[0]?.answer([], 500);
    expect(asked[1]?.path).toBe('before=500&limit=100&text=ada');
    await asked[1]?.answer([], 200);
    await asked[2]?.answer(rowsOf(7), 7);
    expect(asked).toHaveLength(3);
    expect(seqs()).toEqual([7]);
  });

  it('shows the newest alone of what arrives faster than it is read', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    void list.refresh(0);
    await asked[1]?.answer(rowsOf(503, 502, 501), 501);
    expect(seqs()).toEqual([503, 502, 501]);
    expect(list.state.value.next).toBe(501);
  });

  it('counts what arrives while it is scrolled down or aimed at, and moves no row', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    list.setAtTop(false);
    void list.refresh(0);
    expect(asked[1]?.path).toBe('before=3&limit=100');
    await asked[1]?.answer(rowsOf(2, 1), null);
    expect(asked[2]?.path).toBe('after=2&limit=100');
    await asked[2]?.answer(rowsOf(14, 4, 3), null);
    expect([list.state.value.unseen, seqs()]).toEqual([3, [2, 1]]);
    list.setAtTop(true);
    await asked[3]?.answer(rowsOf(14, 4, 3, 2, 1), null);
    expect([list.state.value.unseen, seqs()]).toEqual([0, [14, 4, 3, 2, 1]]);

    list.isAimedAt = () => true;
    void list.refresh(0);
    await asked[4]?.answer(rowsOf(14, 4, 3, 2, 1), null);
    await asked[5]?.answer(rowsOf(99, 98), 98);
    expect(list.state.value).toMatchObject({ unseen: 2, hasMoreUnseen: true });
    list.release();
    expect(asked).toHaveLength(6);
    list.isAimedAt = () => false;
    list.release();
    expect(asked[6]?.path).toBe('limit=100');
  });

  it('shows another filter that is chosen while it reads again', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    await shown(rowsOf(2, 1), null);
    list.setAtTop(false);
    const refreshed = list.refresh(0);
    void list.show({ ...noFilter, verdicts: ['rejected'] });
    await asked[1]?.answer(rowsOf(2, 1), null);
    expect(await refreshed).toBe(false);
    await asked[2]?.answer(rowsOf(1), null);
    expect([seqs(), list.state.value.isLoading]).toEqual([[1], false]);
  });

  it('reads again what is seen after a change, and what is above and below when it is drawn', async () => {
    const { list, asked, seqs, shown } = listWithRequests();
    const all = Array.from({ length: 300 }, (_, i) => 300 - i);
    await shown(rowsOf(...all), null);
    list.setAtTop(false);
    void list.refresh(100);
    expect(asked[1]?.path).toBe('before=251&limit=100');
    await asked[1]?.answer(rowsOf(...all.slice(50, 150).filter((seq) => seq !== 180)), 151);
    await asked[2]?.answer([], null);
    expect(seqs()).not.toContain(180);
    list.drawn(60, 90);
    expect(asked).toHaveLength(3);
    list.drawn(20, 60);
    expect(asked[3]?.path).toBe('before=301&limit=100');
    await asked[3]?.answer(rowsOf(...all.slice(0, 100)), 201);
    list.drawn(120, 160);
    expect(asked[4]?.path).toBe('before=231&limit=100');
  });
});
