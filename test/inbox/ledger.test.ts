import { describe, expect, it } from 'vitest';
import { checkLedger, type LedgerFindings } from '../../src/inbox/check-ledger.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { leavesAtOnce } from '../../src/inbox/ledger.ts';
import { decodeLeaf } from '../../src/statement/leaf.ts';
import { CompactRange } from '../../src/statement/merkle-tree.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { until } from '../support/until.ts';
import { clock, open, sharedStores } from './stores.ts';
import { all, arrivalOf, deliveryOf, ledgerOf, unchangedLedger } from './support.ts';

const check = (inbox: Inbox, size = 0): Promise<LedgerFindings> => checkLedger(inbox, ledgerOf(inbox), size);

describe.each(sharedStores)('the ledger of an inbox in $name', ({ newLocation }) => {
  const lead = (id: string, receivedAt = 1000) => ({
    ...arrivalOf({ id }),
    delivery: deliveryOf(`{"id":"${id}"}`, { receivedAt }),
  });

  it('enters leads by their numbers, once, a second after they came', async () => {
    const inbox = await open(newLocation());
    const ledger = ledgerOf(inbox);
    await inbox.take([lead('a', 7), lead('b'), lead('a'), { ...lead('leads-send-1'), source: 'push' }]);
    await inbox.reject([{ delivery: deliveryOf('no'), rejection: rejection('not_json', 'no') }]);
    await inbox.take([{ ...lead('c'), source: 'backfill' }]);
    expect((await ledger.head()).size).toBe(0);
    clock.advance(1000);
    await until(async () => {
      clock.advance(1000);
      return (await ledger.head()).size === 4;
    });
    const leaves = (await all(ledger.leaves())).flat();
    expect(leaves.map(({ seq }) => seq)).toEqual([1, 2, 4, 6]);
    expect(leaves.map(({ leaf }) => decodeLeaf(leaf)?.kind)).toEqual(['push', 'push', 'test', 'backfill']);
    expect(decodeLeaf(leaves[0]?.leaf ?? Buffer.alloc(0))?.receivedAt).toBe(7);
    expect(await check(inbox)).toMatchObject({ ...unchangedLedger, size: 4, erased: 0, pruned: 0 });
  });

  it('is checked in turns of the event loop, in which a signal ends it', async () => {
    const inbox = await open(newLocation());
    await inbox.take(Array.from({ length: 1001 }, (_, i) => lead(`lead-${i}`)));
    await ledgerOf(inbox).sequence();
    const ending = new AbortController();
    setImmediate(() => ending.abort(new Error('ended')));
    await expect(checkLedger(inbox, ledgerOf(inbox), 0, ending.signal)).rejects.toThrow('ended');
  });

  it('is checked while others store leads and enter them', async () => {
    const inbox = await open(newLocation());
    await inbox.take([lead('a'), lead('b')]);
    const ledger = ledgerOf(inbox);
    await ledger.sequence();
    const takeOne = async (id: string): Promise<void> => {
      await inbox.take([lead(id)]);
      await ledger.sequence();
    };
    const growing: Parameters<typeof checkLedger>[1] = {
      leavesOf: (seqs) => ledger.leavesOf(seqs),
      async head() {
        const head = await ledger.head();
        await takeOne(`behind the head of ${head.size}`);
        return head;
      },
      async *leaves() {
        yield* ledger.leaves();
        await takeOne('behind the leaves');
      },
    };
    expect(await checkLedger(inbox, growing, 2)).toMatchObject(unchangedLedger);
  });

  it('counts what was removed while others are pruned', async () => {
    const inbox = await open(newLocation());
    await inbox.take([lead('a', 1000), lead('b', 5000)]);
    const ledger = ledgerOf(inbox);
    await ledger.sequence();
    const pruning: Parameters<typeof checkLedger>[0] = {
      lookUp: (ids) => inbox.lookUp(ids),
      prunedSince: (since) => inbox.prunedSince(since),
      seqsSince: (since) => inbox.seqsSince(since),
      async *receipts(query) {
        for await (const batch of inbox.receipts(query)) yield batch.filter(({ leadId }) => leadId === 'a');
        await inbox.prune(2000);
      },
    };
    expect(await checkLedger(pruning, ledger, 0)).toMatchObject({ ...unchangedLedger, size: 2, removed: 1 });
  });

  it('goes on where it was, in as many transactions as it takes', async () => {
    const location = newLocation();
    const inbox = await open(location);
    await inbox.take(Array.from({ length: leavesAtOnce * 2 + 7 }, (_, i) => lead(`lead-${i}`)));
    await ledgerOf(inbox).sequence();
    const { size, parts, origin } = await ledgerOf(inbox).head();
    expect(size).toBe(leavesAtOnce * 2 + 7);
    await inbox.close();
    const again = await open(location);
    await again.take([lead('one more')]);
    await ledgerOf(again).sequence();
    expect(await ledgerOf(again).head()).toMatchObject({ origin, size: size + 1 });
    expect((await check(again, size)).root).toEqual(new CompactRange(size, parts).root());
  });

  it('enters what a receiver left that ended before it did, once the next one has started', async () => {
    const location = newLocation();
    const first = await open(location);
    await first.take([lead('a'), lead('b')]);
    await first.close();
    const next = await open(location);
    await until(async () => {
      clock.advance(1000);
      return (await ledgerOf(next).head()).size === 2;
    });
  });

  it('keeps the leaf of a lead that is erased or pruned, and its root', async () => {
    const inbox = await open(newLocation());
    await inbox.take([lead('gone', 1), lead('old', 1), lead('new', 9)]);
    await inbox.erase({ leadIds: ['gone'], rejected: [] });
    const { size, parts } = await ledgerOf(inbox).head();
    await inbox.prune(5);
    const found = await check(inbox, size);
    expect(found).toMatchObject({ ...unchangedLedger, size: 3, erased: 1, pruned: 1 });
    expect(found.root).toEqual(new CompactRange(size, parts).root());
    const leaves = (await all(ledgerOf(inbox).leaves())).flat();
    expect(leaves.map(({ salt }) => salt?.length)).toEqual([undefined, 32, 32]);
  });

  it('begins anew under another name', async () => {
    const inbox = await open(newLocation());
    const ledger = ledgerOf(inbox);
    await inbox.take([lead('a', 1), lead('b', 9)]);
    await inbox.prune(5);
    const { origin } = await ledger.head();
    await ledger.restart(`${origin} 2 root`);
    await ledger.sequence();
    const head = await ledger.head();
    expect(head).toMatchObject({ size: 2, supersedes: `${origin} 2 root` });
    expect(head.origin).not.toBe(origin);
    expect(await check(inbox)).toMatchObject({ ...unchangedLedger, pruned: 1 });
  });
});
