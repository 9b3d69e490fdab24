import { setImmediate } from 'node:timers/promises';
import { sha256 } from '../sha256.ts';
import { commitment, decodeLeaf, encodeLeaf, kindOf, type LeafKind } from '../statement/leaf.ts';
import { CompactRange, leafHash } from '../statement/merkle-tree.ts';
import type { Inbox } from './inbox.ts';
import type { Ledger, StoredLeaf } from './ledger.ts';
import type { ReceivedLead, StoredLead } from './query-types.ts';

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
  /** There, with a number that is not entered, below others that are. */
  readonly inserted: readonly number[];
}

const mostNamed = 20;

const everything = 0;

/** Recomputes the tree from what is stored: every lead that is there is hashed again. `signal` ends it between two pages. */
export async function checkLedger(
  inbox: Inbox,
  ledger: Ledger,
  size: number,
  signal?: AbortSignal,
): Promise<LedgerFindings> {
  const head = await ledger.head();
  const tree = new CompactRange();
  let root = size === 0 ? tree.root() : undefined;
  const altered = new Set<number>();
  const inserted = new Set<number>();
  let [erased, withoutBody, pruned] = [0, 0, 0];
  const name = (seqs: Set<number>, seq: number): unknown => seqs.size < mostNamed && seqs.add(seq);
  for await (const leaves of ledger.leaves()) {
    signal?.throwIfAborted();
    const stored = new Map(
      (await inbox.leadsBySeq(leaves.map(({ seq }) => seq))).map((lead) => [lead.seq, lead]),
    );
    const known = await lookedUp(inbox, [...stored.values()]);
    for (const leaf of leaves) {
      tree.append(leafHash(leaf.leaf));
      if (tree.size === size) root = tree.root();
      const lead = stored.get(leaf.seq);
      if (leaf.salt === undefined) erased += 1;
      else if (lead === undefined) withoutBody += 1;
      if (lead !== undefined && !isAsEntered(leaf, lead, known.get(lead.leadId))) name(altered, leaf.seq);
    }
  }
  for await (const batch of inbox.prunedSince(everything)) {
    for await (const leads of slices(batch)) {
      signal?.throwIfAborted();
      const entered = new Map(
        (await ledger.leavesOf(leads.map(({ seq }) => seq))).map((leaf) => [leaf.seq, leaf]),
      );
      const known = await lookedUp(inbox, leads);
      for (const { leadId, seq } of leads) {
        const leaf = entered.get(seq);
        if (leaf === undefined) continue;
        pruned += 1;
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
      const entered = new Set((await ledger.leavesOf(seqs)).map(({ seq }) => seq));
      for (const seq of seqs) if (!entered.has(seq)) name(inserted, seq);
    }
  }
  return {
    root,
    isHeadRight:
      head.size === tree.size &&
      Buffer.compare(new CompactRange(head.size, head.parts).root(), tree.root()) === 0,
    size: tree.size,
    erased,
    pruned,
    altered: [...altered],
    removed: Math.max(0, withoutBody - pruned),
    inserted: [...inserted],
  };
}

const lookedUp = async (
  inbox: Inbox,
  leads: readonly { readonly leadId: string }[],
): Promise<ReadonlyMap<string, ReceivedLead>> => {
  const ids = leads.map(({ leadId }) => leadId);
  const found = await inbox.lookUp(ids);
  return new Map(ids.flatMap((id, i) => (found[i] === undefined ? [] : [[id, found[i]] as const])));
};

/** What is kept of the id must say the same as its first delivery. */
function isAsEntered(leaf: StoredLeaf, lead: StoredLead, known: ReceivedLead | undefined): boolean {
  const digest = sha256(lead.body);
  const { leadId, receivedAt, source } = lead;
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
