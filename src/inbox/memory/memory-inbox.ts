import { messageOf } from '../../errors.ts';
import { BatchQueue } from '../../files/group-commit.ts';
import type { SearchStep } from '../query-types.ts';
import {
  type Backlog,
  cannotStore,
  type Inbox,
  type LeadState,
  type StoredDelivery,
  type StoredLead,
  sumBacklog,
} from '../inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { StoreOptions } from '../store-options.ts';
import { storeReader, type StoreReader } from '../store-reader.ts';
import { targetLabel } from '../target-name.ts';
import { MemoryWriter } from './memory-writer.ts';
import type { OutstandingWork } from './target-work.ts';

/** Deliveries that one step of a search gives, and bytes of their bodies, unless a single one has more. */
const stepRows = 200;
const stepBytes = 1024 * 1024;

/** `:memory:`: what this process received, lost with it. The verdicts of the database without its cost. */
export function memoryInbox(options: StoreOptions): Inbox {
  const { location, targets, onCommit } = options;
  const writer = new MemoryWriter(options);
  const { outstanding } = writer;
  const failure = (error: unknown): Error =>
    cannotStore(location, { kind: 'store-other-fault', detail: messageOf(error) }, error);
  // Nothing has to be made durable, but answers that leave together wake their readers once: one by one, each would cost
  // more than all else that is done for its delivery.
  const queue = new BatchQueue<() => void>((steps) => {
    writer.begin();
    onCommit?.(steps.length);
    for (const step of steps) step();
    return Promise.resolve();
  });
  const add = <T>(step: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      queue.add(() => {
        try {
          resolve(step());
        } catch (error) {
          reject(failure(error));
        }
      });
    });
  return {
    ...memoryReader(writer, options),
    take: (arrivals) => add(() => writer.take(arrivals)),
    // At once: a flood of them must not wait in memory.
    reject(rejected) {
      try {
        for (const one of rejected) writer.reject(one);
        return Promise.resolve();
      } catch (error) {
        return Promise.reject(failure(error));
      }
    },
    settle: (leases) => add(() => leases.map((lease) => writer.settle(lease))),
    // Every target is one that this receiver wants.
    markDoneAtNewAddress: (leases) => add(() => leases.map((lease) => writer.markDoneAtNewAddress(lease))),
    release(leases) {
      for (const lease of leases) writer.release(lease);
      return Promise.resolve();
    },
    lease: (leases) => Promise.resolve(leases.map((lease) => writer.lease(lease))),
    async *unsettled(target) {
      for (const { lead } of target === undefined ? outstanding.all() : outstanding.on(target)) yield lead;
      await Promise.resolve();
    },
    due: (target, by, limit, leadIds) =>
      Promise.resolve(
        leadIds === undefined
          ? outstanding.due(target, by, limit)
          : outstanding.dueOf(leadIds, target, by).slice(0, limit),
      ),
    nextDueAt: (target) => Promise.resolve(outstanding.nextDueAt(target)),
    beginAnew: (leadIds) => Promise.resolve(writer.beginAnew(leadIds)),
    checkWritable: () => Promise.resolve(),
    backlog: () =>
      Promise.resolve(sumBacklog(targets.flatMap((target) => [...backlogOf(target, outstanding)]))),
    prune: (before) => Promise.resolve(writer.prune(before)),
    async erase(erasure) {
      const counts = await add(() => writer.erase(erasure));
      return { ...counts, remains: undefined, outOfReach: [] };
    },
    compact: () => Promise.resolve(undefined),
    close: () => queue.flush(),
  };
}

function* backlogOf(name: string, outstanding: OutstandingWork): Generator<Backlog> {
  const target = targetLabel(name);
  for (const { dead, firstAt: oldestAt } of outstanding.on(name)) {
    if (dead) yield { target, leads: 0, dead: 1, oldestAt: Number.POSITIVE_INFINITY };
    else yield { target, leads: 1, dead: 0, oldestAt };
  }
}

function memoryReader(
  writer: MemoryWriter,
  { location, targets }: Pick<StoreOptions, 'location' | 'targets'>,
): StoreReader {
  const { deliveries, leads, erased, outstanding } = writer;
  return storeReader(location, {
    changeMark: () => String(deliveries.changes),
    extent: () => ({
      newestSeq: deliveries.lastSeq,
      oldestSeq: deliveries.oldestSeq,
      erased: erased.size,
    }),
    outcomeMarks: (seqs) => deliveries.outcomeMarks(seqs),
    /** Everything is a candidate. */
    *search(_terms, query) {
      let candidates: SearchStep['candidates'][number][] = [];
      let bytes = 0;
      for (const delivery of deliveries.newestFirst(query, outstanding)) {
        candidates.push(delivery);
        bytes += delivery.body.length;
        if (candidates.length < stepRows && bytes < stepBytes) continue;
        yield { candidates, looked: candidates.length };
        [candidates, bytes] = [[], 0];
      }
      yield { candidates, looked: candidates.length };
    },
    outstanding() {
      const found = targets.map((target) => {
        const [sum = { leads: 0, dead: 0 }] = sumBacklog(backlogOf(target, outstanding));
        const { leads, dead } = sum;
        const mine = { wanted: true, wantedElsewhere: false };
        return { target: targetLabel(target), leads, dead, ...mine };
      });
      return found.filter(({ leads, dead }) => leads + dead > 0);
    },
    lackingTargets: (leadId) =>
      outstanding
        .of(leadId)
        .map(({ target, tries, dueAt, dead }) => ({
          target: targetLabel(target),
          tries,
          dueAt: dead ? undefined : dueAt,
          dead,
        }))
        .sort((a, b) => (a.target < b.target ? -1 : 1)),
    list(query) {
      const taken = query.leadId === undefined ? undefined : writer.takenOf(query.leadId);
      return deliveries.newestFirst(query, outstanding, taken);
    },
    receipts: (query) => deliveries.receipts(query),
    counts: (query) => deliveries.counts(query),
    *leads({ states = ['accepted'], since, until }) {
      for (const [leadId, { seq, accepted }] of [...leads]) {
        const isWanted =
          (accepted && states.includes('accepted')) ||
          (states.includes('pending') && outstanding.has(leadId));
        const first = isWanted ? deliveries.find(seq, { since, until }) : undefined;
        if (first !== undefined) yield leadIn(first);
      }
    },
    lookUp: (leadIds) => leadIds.map((leadId) => writer.receivedLead(leadId)),
    seqsSince: (since) => [
      [...leads.values()].filter(({ firstAt }) => firstAt >= since).map(({ seq }) => seq),
    ],
    backfilledSeqs: (from) => [writer.backfilledSeqs().filter((seq) => seq >= from)],
    leadsBySeq: (seqs) => seqs.flatMap((seq) => deliveries.find(seq, {}) ?? []).map(leadIn),
    prunedSince: (since) => [
      [...leads].flatMap(([leadId, { seq, firstAt: receivedAt }]) =>
        receivedAt >= since && deliveries.find(seq, {}) === undefined ? [{ leadId, seq, receivedAt }] : [],
      ),
    ],
    states(leadIds) {
      const found = new Map<string, LeadState>();
      for (const leadId of leadIds) {
        const lead = leads.get(leadId);
        if (lead !== undefined) found.set(leadId, lead.accepted ? 'accepted' : 'pending');
        else if (erased.find(leadId) !== undefined) found.set(leadId, 'accepted');
      }
      return found;
    },
    droppedRepeats: (leadId) => writer.droppedRepeats(leadId),
    close: () => undefined,
  });
}

const leadIn = ({ seq, leadId = '', receivedAt, source, body, place }: StoredDelivery): StoredLead => ({
  seq,
  leadId,
  receivedAt,
  source,
  body: leadBytes(body, place),
});
