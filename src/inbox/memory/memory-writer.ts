import { hash } from 'node:crypto';
import { decide, decideSettled, type KnownLead, type TakenKind } from '../decide.ts';
import { recordOf } from '../delivery-record.ts';
import type { Arrival, RejectedDelivery, TakeResult, TargetLease } from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { DeliveryLog } from './delivery-log.ts';
import { MemoryNonces } from './memory-nonces.ts';

interface Lead {
  /** Number of its first delivery. */
  readonly seq: number;
  readonly firstAt: number;
  attempts: number;
  accepted: boolean;
  /** Targets that have had it. */
  settled: readonly string[];
  /** SHA-256 of its first payload, once that was pruned. */
  digest: string | undefined;
}

/** Shared by the leads that no target has had: most stay so, where no target is wanted. */
const none: readonly string[] = [];

/** Writes what `Inbox` names. No other receiver can hold a lease here, so none is kept. */
export class MemoryWriter {
  readonly deliveries = new DeliveryLog();
  readonly leads = new Map<string, Lead>();
  readonly #options: Pick<StoreOptions, 'targets' | 'redact'>;
  readonly #nonces: MemoryNonces;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#nonces = new MemoryNonces(options.nonceLifetimeMs);
  }

  take(arrival: Arrival, now: number): TakeResult {
    const { leadId, nonce, delivery } = arrival;
    const { targets, redact } = this.#options;
    const nonceTaken = nonce !== undefined && !this.#nonces.bind(nonce, digestOf(delivery.body), now);
    const lead = this.leads.get(leadId);
    const known = lead === undefined ? undefined : this.#knownLead(lead, delivery.body);
    const verdict = decide({ nonceTaken, lead: known }, arrival, targets);
    const seq = this.deliveries.add(recordOf(arrival, verdict, redact));
    if (verdict.kind === 'rejected') return verdict;
    const { firstAt, attempt } = verdict;
    const accepted = verdict.kind === 'accepted';
    if (lead === undefined) {
      this.leads.set(leadId, { seq, firstAt, attempts: 1, accepted, settled: none, digest: undefined });
    } else {
      lead.attempts = attempt;
    }
    return { seq, ...verdict };
  }

  reject({ delivery, leadId, rejection }: RejectedDelivery): void {
    this.deliveries.add(recordOf({ delivery, leadId }, rejection, this.#options.redact));
  }

  settle({ leadId, seq, target }: TargetLease): TakenKind {
    const lead = this.leads.get(leadId);
    if (lead === undefined) throw new Error('there is no lead of this id to settle');
    if (!lead.settled.includes(target)) lead.settled = [...lead.settled, target];
    const unsettled = this.#options.targets.filter((wanted) => !lead.settled.includes(wanted));
    const verdict = decideSettled(unsettled, lead);
    if (verdict === 'pending') return verdict;
    lead.accepted = true;
    this.deliveries.conclude(seq, verdict);
    return verdict;
  }

  /** Returns the number of dropped deliveries. */
  prune(before: number): number {
    let dropped = 0;
    for (const { seq, leadId } of this.deliveries.receivedBefore(before)) {
      const lead = leadId === undefined ? undefined : this.leads.get(leadId);
      const isFirst = lead?.seq === seq;
      if (isFirst && !lead.accepted) continue;
      if (isFirst) lead.digest = digestOf(this.deliveries.bodyOf(seq) ?? new Uint8Array());
      this.deliveries.remove(seq);
      dropped += 1;
    }
    return dropped;
  }

  #knownLead({ seq, firstAt, attempts, accepted, settled, digest }: Lead, body: Uint8Array): KnownLead {
    const first = this.deliveries.bodyOf(seq);
    const isSame = first === undefined ? digestOf(body) === digest : Buffer.compare(first, body) === 0;
    const firstBody = isSame ? 'same' : (first ?? 'pruned');
    return { firstAt, attempts, accepted, firstBody, settled, leasedElsewhere: none };
  }
}

const digestOf = (body: Uint8Array): string => hash('sha256', body, 'base64');
