import { setImmediate } from 'node:timers/promises';
import { sha256 } from '../json/bytes.ts';
import { commitment, decodeLeaf, encodeLeaf, kindOf, type LeafKind } from '../statement/leaf.ts';
import { CompactRange, leafHash } from '../statement/merkle-tree.ts';
import { BitSet } from '../lead/id-set.ts';
import type { Inbox } from './inbox.ts';
import type { Ledger, StoredLeaf } from './ledger.ts';
import type { ReceivedLead, StoredReceipt } from './query-types.ts';

/** What the inbox holds now against its ledger; numbers of first deliveries, at most `mostNamed` of each. */
export interface LedgerFindings {
  /** The root that the first leaves have, up to the size that was asked for; undefined where there are fewer. */
  readonly root: Uint8Array | undefined;
  /** Whether the head is that of the leaves. */
  readonly isHeadRight: boolean;
  readonly size: number;
  readonly erased: number;
  /** Of these only id, time and digest are left. */
  readonly pruned: number;
  /** Id, bytes, time or kind are other ones than were entered. */
  readonly altered: readonly number[];
  /** Entered, and there is no such lead. */
  readonly removed: number;
  /** There as a lead, and not entered, though others with greater numbers are, or as one that was pruned. */
  readonly inserted: readonly number[];
}

const mostNamed = 20;

const everything = 0;

/** Recomputes the tree from what is stored: every lead that is there is hashed again. `signal` ends it between two pages. */
export async function checkLedger(
  inbox: Pick<Inbox, 'receipts' | 'lookUp' | 'prunedSince' | 'seqsSince'>,
  ledger: Pick<Ledger, 'head' | 'leaves' | 'leavesOf'>,
  size: number,
  signal?: AbortSignal,
): Promise<LedgerFindings> {
  const head = await ledger.head();
  const tree = new CompactRange();
  let root = size === 0 ? tree.root() : undefined;
  let isHeadRight = head.size === 0;
  const altered = new Set<number>();
  const inserted = new Set<number>();
  // What was entered and not met yet: a lead that is pruned meanwhile is met twice.
  const lacking = new BitSet();
  let [erased, removed, pruned] = [0, 0, 0];
  const name = (seqs: Set<number>, seq: number): unknown => seqs.size < mostNamed && seqs.add(seq);
  const entered = async (seqs: readonly number[]): Promise<ReadonlyMap<number, StoredLeaf>> =>
    new Map((await ledger.leavesOf(seqs)).map((leaf) => [leaf.seq, leaf]));
  for await (const leaves of ledger.leaves()) {
    signal?.throwIfAborted();
    for (const { leaf, salt, seq } of leaves) {
      tree.append(leafHash(leaf));
      if (tree.size === size) root = tree.root();
      if (tree.size === head.size) isHeadRight = Buffer.compare(tree.toBytes(), head.parts) === 0;
      if (salt === undefined) erased += 1;
      else {
        lacking.add(seq);
        removed += 1;
      }
    }
  }
  // Others may have entered leads meanwhile, and moved the head with them.
  isHeadRight &&= tree.size <= (await ledger.head()).size;
  for await (const batch of inbox.receipts({ since: undefined, until: undefined, withRepeats: false })) {
    signal?.throwIfAborted();
    const leaves = await entered(batch.map(({ seq }) => seq));
    const known = await lookedUp(inbox, batch);
    for (const receipt of batch) {
      const { seq, leadId = '', attempt, reason } = receipt;
      const leaf = leaves.get(seq);
      // As a statement decides which deliveries are leads.
      const isFirst = receipt.leadId !== undefined && attempt === 1 && reason === undefined;
      if (leaf === undefined) {
        if (isFirst && seq <= head.seq) name(inserted, seq);
        continue;
      }
      if (lacking.delete(seq)) removed -= 1;
      if (!isFirst || !isAsEntered(leaf, { ...receipt, leadId }, known.get(leadId))) name(altered, seq);
    }
    await setImmediate();
  }
  for await (const batch of inbox.prunedSince(everything)) {
    for await (const leads of slices(batch)) {
      signal?.throwIfAborted();
      const leaves = await entered(leads.map(({ seq }) => seq));
      const known = await lookedUp(inbox, leads);
      for (const { leadId, seq } of leads) {
        const leaf = leaves.get(seq);
        if (leaf === undefined) {
          // Before a ledger has its first delivery, what was pruned is being entered.
          if (head.seq > 0) name(inserted, seq);
          continue;
        }
        if (lacking.delete(seq)) {
          removed -= 1;
          pruned += 1;
        }
        const kept = known.get(leadId);
        const kind = decodeLeaf(leaf.leaf)?.kind;
        if (kept?.digest === undefined || kept.seq !== seq || kind === undefined) name(altered, seq);
        else if (
          !isLeafOf(leaf, {
            leadId,
            kind,
            receivedAt: kept.receivedAt,
            digest: Buffer.from(kept.digest, 'hex'),
          })
        )
          name(altered, seq);
      }
    }
  }
  for await (const batch of inbox.seqsSince(everything)) {
    for await (const seqs of slices(batch.filter((seq) => seq <= head.seq))) {
      signal?.throwIfAborted();
      const leaves = await entered(seqs);
      for (const seq of seqs) if (!leaves.has(seq)) name(inserted, seq);
    }
  }
  return {
    root,
    isHeadRight,
    size: tree.size,
    erased,
    pruned,
    altered: [...altered],
    removed,
    inserted: [...inserted],
  };
}

const lookedUp = async (
  inbox: Pick<Inbox, 'lookUp'>,
  leads: readonly { readonly leadId: string | undefined }[],
): Promise<ReadonlyMap<string, ReceivedLead>> => {
  const ids = leads.flatMap(({ leadId }) => leadId ?? []);
  const found = await inbox.lookUp(ids);
  return new Map(ids.flatMap((id, i) => (found[i] === undefined ? [] : [[id, found[i]] as const])));
};

/** What is kept of the id must say the same as its first delivery. */
function isAsEntered(
  leaf: StoredLeaf,
  { leadId, receivedAt, source, lead }: StoredReceipt & { readonly leadId: string },
  known: ReceivedLead | undefined,
): boolean {
  const digest = sha256(lead ?? '');
  return (
    known?.seq === leaf.seq &&
    known.receivedAt === receivedAt &&
    known.digest === digest.toString('hex') &&
    isLeafOf(leaf, { leadId, receivedAt, digest, kind: kindOf(leadId, source) })
  );
}

function isLeafOf(
  { leaf, salt }: StoredLeaf,
  lead: {
    readonly leadId: string;
    readonly kind: LeafKind;
    readonly receivedAt: number;
    readonly digest: Uint8Array;
  },
): boolean {
  if (salt === undefined) return false;
  const { leadId, digest, kind, receivedAt } = lead;
  const made = encodeLeaf({ kind, receivedAt, commitment: commitment(salt, leadId, digest) });
  return Buffer.compare(made, leaf) === 0;
}

/** As many as are looked up at once, each in a turn of the event loop of its own. */
async function* slices<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += 1000) {
    yield items.slice(at, at + 1000);
    await setImmediate();
  }
}
