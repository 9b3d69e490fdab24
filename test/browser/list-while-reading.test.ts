import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/inspect/web/server/api.ts';
import { DeliveryList } from '../../src/inspect/web/state/delivery-list.ts';
import { noFilter } from '../../src/inspect/web/state/list-filter.ts';
import type { WirePage, WireRow } from '../../src/inspect/wire.ts';

const rowOf = (seq: number, more: Partial<WireRow> = {}): WireRow => ({
  seq,
  receivedAt: seq * 1_000,
  leadId: `lead_${seq}`,
  name: null,
  category: null,
  verdict: 'accepted',
  reason: null,
  status: 200,
  attempt: 1,
  source: 'push',
  size: 10,
  delivered: 0,
  failed: 0,
  ...more,
});

/** From a number down to another one. */
const rowsOf = (newest: number, oldest: number): WireRow[] =>
  Array.from({ length: newest - oldest + 1 }, (_, i) => rowOf(newest - i));
const pageOf = (newest: number, oldest: number, next: number | null = null): WirePage => ({
  rows: rowsOf(newest, oldest),
  next,
  lead: null,
});

/** A list, and its requests in order: each waits for its answer. */
function listOf(): {
  list: DeliveryList;
  seqs: () => number[];
  requests: { path: string; answer: (page: WirePage) => Promise<void> }[];
} {
  const requests: ReturnType<typeof listOf>['requests'] = [];
  const get = (path: string): Promise<WirePage> => {
    const { promise, resolve } = deferred<WirePage>();
    requests.push({
      path,
      answer: async (page) => {
        resolve(page);
        await new Promise(setImmediate);
      },
    });
    return promise;
  };
  const list = new DeliveryList({ get } as unknown as Api);
  return { list, requests, seqs: () => list.state.value.rows.map(({ seq }) => seq) };
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('the list of the page', () => {
  it('keeps what arrives, and what changes, while a page that was read before is on its way', async () => {
    const { list, requests, seqs } = listOf();
    void list.show(noFilter);
    list.add([rowOf(4), rowOf(5)], 0);
    list.changed([rowOf(2, { verdict: 'pending' })]);
    await requests[0]?.answer(pageOf(4, 1));
    expect(seqs()).toEqual([5, 4, 3, 2, 1]);
    expect(list.state.value.rows[3]?.verdict).toBe('pending');
  });

  it('waits for the page that is being read while more arrives than is told, and reads once more', async () => {
    const { list, requests, seqs } = listOf();
    void list.show(noFilter);
    for (let i = 0; i < 5; i++) list.add([rowOf(1_000 * (i + 1))], 900);
    expect(requests).toHaveLength(1);
    await requests[0]?.answer(pageOf(2_000, 1_990, 1_990));
    expect(seqs()).toContain(2_000);
    expect(requests).toHaveLength(2);
    await requests[1]?.answer(pageOf(5_000, 4_990, 4_990));
    expect(seqs()[0]).toBe(5_000);
    expect(requests).toHaveLength(2);
  });

  it('has no gap where its oldest rows were dropped while older ones were on their way', async () => {
    const { list, requests, seqs } = listOf();
    void list.show(noFilter);
    await requests[0]?.answer(pageOf(2_000, 1_000, 1_000));
    void list.loadOlder();
    list.add([rowOf(2_001), rowOf(2_002)], 0);
    await requests[1]?.answer(pageOf(999, 990, 990));
    expect(seqs().at(-1)).toBe(1_003);
    void list.loadOlder();
    expect(requests[2]?.path).toContain('before=1003');
  });

  it('shows no row of what was removed: what is seen is read again, the rest when it is scrolled to', async () => {
    const { list, requests, seqs } = listOf();
    void list.show(noFilter);
    await requests[0]?.answer(pageOf(300, 101, 101));
    list.setAtTop(false);
    void list.refresh(100);
    expect(requests[1]?.path).toContain('before=241');
    await requests[1]?.answer(pageOf(239, 200, 200));
    expect(seqs()).not.toContain(240);
    expect(seqs().at(-1)).toBe(200);
    list.setAtTop(true);
    await requests[2]?.answer(pageOf(290, 250, 250));
    expect(seqs()[0]).toBe(290);
  });
});
