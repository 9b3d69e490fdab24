import { hash } from 'node:crypto';
import { decide, decideSettled, type KnownLead, type TakenKind } from '../decide-verdict.ts';
import { recordOf } from '../delivery-record.ts';
import type { Arrival, DroppedRepeats, RejectedDelivery, TakeResult, TargetLease } from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { ComparisonBudget } from '../comparison-budget.ts';
import { targetLabel } from '../target-name.ts';
import { DeliveryLog } from './delivery-log.ts';
import { MemoryNonces } from './memory-nonces.ts';
import { Repeats } from './repeats.ts';

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
  /** Most leads come once. */
  repeats: Repeats | undefined;
}

/** Shared by the leads that no target has had: most stay so, where no target is wanted. */
const none: readonly string[] = [];

/** Writes what `Inbox` names. No other receiver can hold a lease here, so none is kept. */
export class MemoryWriter {
  readonly deliveries = new DeliveryLog();
  readonly leads = new Map<string, Lead>();
  readonly #options: Pick<StoreOptions, 'targets' | 'redact' | 'clock'>;
  readonly #nonces: MemoryNonces;
  readonly #comparison = new ComparisonBudget();

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#nonces = new MemoryNonces(options.nonceLifetimeMs);
  }

  /** A batch begins. */
  begin(): void {
    this.#comparison.reset();
  }

  take(arrival: Arrival): TakeResult {
    const { leadId, nonce, delivery } = arrival;
    const { targets, redact, clock } = this.#options;
    const nonceTaken =
      nonce !== undefined && !this.#nonces.bind(nonce, digestOf(delivery.body), clock.steady());
    const lead = this.leads.get(leadId);
    const known = lead === undefined ? undefined : this.#knownLead(lead, delivery.body);
    const verdict = decide({ nonceTaken, lead: known }, arrival, targets);
    const seq = this.deliveries.add(recordOf(arrival, verdict, redact));
    if (verdict.kind === 'rejected') return verdict;
    const { firstAt, attempt } = verdict;
    const accepted = verdict.kind === 'accepted';
    if (lead === undefined) {
      const settled = none;
      this.leads.set(leadId, {
        seq,
        firstAt,
        attempts: 1,
        accepted,
        settled,
        digest: undefined,
        repeats: undefined,
      });
    } else {
      lead.attempts = attempt;
      lead.accepted ||= accepted;
      lead.repeats ??= new Repeats();
      const dropped = lead.repeats.add(seq, verdict.differs !== undefined);
      if (dropped !== undefined) this.deliveries.remove(dropped);
    }
    return { seq, ...verdict };
  }

  reject({ delivery, leadId, rejection }: RejectedDelivery): void {
    this.deliveries.add(recordOf({ delivery, leadId }, rejection, this.#options.redact));
  }

  settle(lease: TargetLease): TakenKind {
    const { leadId, seq, target } = lease;
    this.addResult(lease);
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

  addResult({ seq, target, result }: TargetLease): void {
    if (result !== undefined) this.deliveries.addResult(seq, { ...result, target: targetLabel(target) });
  }

  /** The wanted targets that have not had the lead. */
  unsettled(leadId: string): readonly string[] {
    const lead = this.leads.get(leadId);
    if (lead === undefined) return none;
    return this.#options.targets.filter((target) => !lead.settled.includes(target));
  }

  droppedRepeats(leadId: string): DroppedRepeats {
    return this.leads.get(leadId)?.repeats?.dropped ?? { differing: 0, same: 0 };
  }

  /** Returns the number of dropped deliveries. */
  prune(before: number): number {
    let dropped = 0;
    for (const { seq, leadId } of this.deliveries.receivedBefore(before)) {
      const lead = leadId === undefined ? undefined : this.leads.get(leadId);
      if (leadId !== undefined && this.unsettled(leadId).length > 0) continue;
      if (lead?.seq === seq) lead.digest = digestOf(this.deliveries.bodyOf(seq) ?? new Uint8Array());
      this.deliveries.remove(seq);
      dropped += 1;
    }
    return dropped;
  }

  #knownLead({ seq, firstAt, attempts, accepted, settled, digest }: Lead, body: Uint8Array): KnownLead {
    const first = this.deliveries.bodyOf(seq);
    const isSame = first === undefined ? digestOf(body) === digest : Buffer.compare(first, body) === 0;
    const firstBody = isSame ? 'same' : this.#comparison.spend(first, body);
    return { firstAt, attempts, accepted, firstBody, settled, leasedElsewhere: none };
  }
}

const digestOf = (body: Uint8Array): string => hash('sha256', body, 'base64');
