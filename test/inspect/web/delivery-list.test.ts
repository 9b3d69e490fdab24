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
function listWithRequests(): { list: DeliveryList; asked: Asked[]; seqs: () => number[] } {
  const asked: Asked[] = [];
  const get = <Answer>(path: string): Promise<Answer> =>
    new Promise((resolve) => {
      asked.push({
        path,
        async answer(rows, next) {
          const page: WirePage = { rows, next, lead: null };
          resolve(page as Answer);
          await Promise.resolve();
          await Promise.resolve();
        },
      });
    });
  const list = new DeliveryList({ get });
  return { list, asked, seqs: () => list.state.value.rows.map(({ seq }) => seq) };
}

describe('the list of deliveries', () => {
  it('keeps what arrives while its newest page is read', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    list.add(rowsOf(4, 5), 0);
    await asked[0]?.answer(rowsOf(4, 3, 2), null);
    expect(seqs()).toEqual([5, 4, 3, 2]);
  });

  it('drops the answer to a filter that is not the one any more', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    void list.show({ ...noFilter, verdicts: ['rejected'] });
    await asked[1]?.answer([rowOf(2, { verdict: 'rejected' })], null);
    await asked[0]?.answer(rowsOf(3, 1), null);
    expect(seqs()).toEqual([2]);
    list.add([rowOf(4), rowOf(5, { verdict: 'rejected' })], 0);
    expect(seqs()).toEqual([5, 2]);
  });

  it('reads on where it ends, once at a time', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    await asked[0]?.answer(rowsOf(9, 8), 8);
    void list.loadOlder();
    void list.loadOlder();
    expect(asked.map(({ path }) => path)).toEqual([
      '/api/deliveries?limit=100',
      '/api/deliveries?before=8&limit=100',
    ]);
    await asked[1]?.answer(rowsOf(7), null);
    void list.loadOlder();
    expect(asked).toHaveLength(2);
    expect(seqs()).toEqual([9, 8, 7]);
  });

  it('has no gap where its oldest rows were dropped while older ones were on their way', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    await asked[0]?.answer(rowsOf(...Array.from({ length: 1_001 }, (_, i) => 2_000 - i)), 1_000);
    void list.loadOlder();
    list.add(rowsOf(2_001, 2_002), 0);
    await asked[1]?.answer(rowsOf(999, 998), 998);
    expect(seqs().at(-1)).toBe(1_003);
    void list.loadOlder();
    expect(asked[2]?.path).toBe('/api/deliveries?before=1003&limit=100');
  });

  it('shows the newest of what arrives faster than it is told, without a request', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    await asked[0]?.answer(rowsOf(2, 1), null);
    list.add(rowsOf(501, 502, 503), 498);
    expect(seqs()).toEqual([503, 502, 501]);
    expect(list.state.value.next).toBe(501);
    expect(asked).toHaveLength(1);
  });

  it('counts what arrives while it is scrolled down, and reads it at the top', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    await asked[0]?.answer(rowsOf(2, 1), null);
    list.setAtTop(false);
    list.add(rowsOf(3, 4), 10);
    expect(list.state.value.unseen).toBe(12);
    expect(seqs()).toEqual([2, 1]);
    list.setAtTop(true);
    await asked[1]?.answer(rowsOf(14, 4, 3, 2, 1), null);
    expect(seqs()).toEqual([14, 4, 3, 2, 1]);
    expect(list.state.value.unseen).toBe(0);
  });

  it('reads again what is seen when something was removed, and what is above it when it is seen', async () => {
    const { list, asked, seqs } = listWithRequests();
    void list.show(noFilter);
    const all = Array.from({ length: 300 }, (_, i) => 300 - i);
    await asked[0]?.answer(rowsOf(...all), null);
    list.setAtTop(false);
    void list.refresh(200);
    expect(asked[1]?.path).toBe('/api/deliveries?before=151&limit=100');
    await asked[1]?.answer(rowsOf(...all.slice(150, 250).filter((seq) => seq !== 100)), 51);
    expect(seqs()).not.toContain(100);
    list.drawnFrom(160);
    expect(asked).toHaveLength(2);
    list.drawnFrom(120);
    expect(asked[2]?.path).toBe('/api/deliveries?before=231&limit=100');
  });
});
