import { sha256 } from '../json/bytes.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { type OtherDelivery, type Rejection, rejection } from '../webhook/delivery-answer.ts';
import { type DeliveryContent, memberIds, remainingContent } from './remaining-content.ts';
import type { Arrival, ErasedLead, RejectedDelivery, TakenVerdict, TakeResult } from './inbox.ts';
import { payloadDiff } from '../json/payload-diff.ts';
import type { Value } from './sql/row.ts';
import { toColumn } from './sql/statement.ts';
import { maxComparedBytes, maxRejectedBody, maxRepeatsKept, type RedactDelivery } from './store-options.ts';

/** A lead on its way in. `id` is the text of its column. */
interface ArrivingLead {
  readonly arrival: Arrival;
  readonly id: string;
  readonly payload: Uint8Array;
  readonly digest: Uint8Array;
}

interface ArrivingDelivery {
  readonly content: DeliveryContent;
  readonly leads: readonly ArrivingLead[];
  /** `key` is the text in the column; `digest` is the SHA-256 of the whole body. */
  readonly nonce: { readonly key: string; readonly digest: Uint8Array } | undefined;
}

interface RejectedContent extends RejectedDelivery {
  readonly content: DeliveryContent;
}

/** The deliveries of one caller: those to store as received, and those to keep as rejected. */
export interface BatchItem {
  readonly deliveries: readonly ArrivingDelivery[];
  readonly rejected: readonly RejectedContent[];
}

export const takeItem = (arrivals: readonly Arrival[], redact: RedactDelivery): BatchItem => ({
  deliveries: groupByDelivery(arrivals).map(([first, ...more]) => {
    const { delivery, nonce, place } = first;
    // A body that is the lead is hashed once for both.
    const digest = nonce === undefined && place !== undefined ? undefined : sha256(delivery.body);
    return {
      content: contentOf(delivery, redact),
      leads: [first, ...more].map((arrival) => arrivingLead(arrival, digest)),
      nonce: nonce === undefined || digest === undefined ? undefined : { key: toColumn(nonce), digest },
    };
  }),
  rejected: [],
});

export const rejectItem = (rejected: readonly RejectedDelivery[], redact: RedactDelivery): BatchItem => ({
  deliveries: [],
  rejected: rejected.map((delivery) => ({ ...delivery, content: contentOf(delivery.delivery, redact) })),
});

const contentOf = (delivery: Arrival['delivery'], redact: RedactDelivery): DeliveryContent => ({
  path: redact.path(delivery),
  headers: redact.headers(delivery),
  body: delivery.body,
});

/** Puts arrivals that follow each other and share a delivery together; a body that is the lead has no other one. */
function groupByDelivery(arrivals: readonly Arrival[]): readonly (readonly [Arrival, ...Arrival[]])[] {
  const groups: [Arrival, ...Arrival[]][] = [];
  for (const arrival of arrivals) {
    const group = arrival.place === undefined ? undefined : groups.at(-1);
    const isSame = group?.[0].place !== undefined && group[0].delivery === arrival.delivery;
    if (group !== undefined && isSame) group.push(arrival);
    else groups.push([arrival]);
  }
  return groups;
}

function arrivingLead(arrival: Arrival, bodyDigest: Uint8Array | undefined): ArrivingLead {
  const { delivery, leadId, place } = arrival;
  const payload = leadBytes(delivery.body, place);
  const digest = place === undefined && bodyDigest !== undefined ? bodyDigest : sha256(payload);
  return { arrival, id: toColumn(leadId), payload, digest };
}

export interface Keys {
  /** Ids of leads, as texts of their column. */
  readonly leads: ReadonlySet<string>;
  readonly nonces: ReadonlySet<string>;
  /** Ids that may have been erased: those of the leads, and those in rejected deliveries. */
  readonly ids: () => ReadonlySet<string>;
}

export function keysOf(batch: readonly BatchItem[]): Keys {
  const leads = new Set<string>();
  const nonces = new Set<string>();
  for (const delivery of batch.flatMap(({ deliveries }) => deliveries)) {
    for (const { id } of delivery.leads) leads.add(id);
    if (delivery.nonce !== undefined) nonces.add(delivery.nonce.key);
  }
  return { leads, nonces, ids: () => new Set(batch.flatMap(idsIn)) };
}

export const leadsIn = ({ deliveries }: BatchItem) => deliveries.flatMap(({ leads }) => leads);

const idsIn = (item: BatchItem): readonly string[] => [
  ...leadsIn(item).map(({ arrival: { leadId } }) => leadId),
  ...item.rejected.flatMap(rejectedIds),
];

/** The ids of the leads in a rejected delivery may not be authentic. */
const rejectedIds = ({ leadId, delivery }: RejectedDelivery): readonly string[] =>
  leadId === undefined ? memberIds(delivery.body) : [leadId];

interface StoredLeadRow extends ErasedLead {
  readonly digest: Uint8Array;
}

export interface BoundNonce {
  readonly digest: Uint8Array;
  readonly expires: number;
}

/** These are the rows that the inbox has for the keys of a batch. */
export interface StoredState {
  readonly leads: ReadonlyMap<string, StoredLeadRow>;
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  /** The keys are the ids themselves. */
  readonly erased: ReadonlyMap<string, ErasedLead>;
  readonly payloads: ReadonlyMap<number, Uint8Array>;
  /** These leads, named by the texts of their column, were fetched for no target and never pushed. */
  readonly unpushed: ReadonlySet<string>;
}

/** A decision depends on this beside the batch and the stored state. Times are in milliseconds. */
export interface BatchContext {
  readonly seq: number;
  readonly now: number;
  readonly claimMs: number;
  readonly noncesNow: number;
  readonly nonceLifetimeMs: number;
  /** Targets of a lead whose arrival names none. */
  readonly targets: readonly string[];
  readonly storedName: (target: string) => string;
}

export interface Changes {
  readonly results: readonly (readonly TakeResult[])[];
  readonly seq: number;
  readonly deliveries: readonly (readonly Value[])[];
  readonly contents: readonly (readonly Value[])[];
  readonly leads: readonly (readonly Value[])[];
  readonly forwards: readonly (readonly Value[])[];
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  readonly repeats: ReadonlyMap<string, number>;
  /** Leads with more repeats than are kept, of those that have another payload than the first one, or of the others. */
  readonly trimmed: readonly { readonly id: string; readonly differs: boolean }[];
  readonly rejectedKinds: ReadonlySet<'rejected' | 'other'>;
}

/**
 * The verdicts on a batch, and what is stored for them: the only place where a verdict is made. A nonce is bound to the body that
 * came first with it, and committed with the lead.
 */
export function decide(batch: readonly BatchItem[], stored: StoredState, context: BatchContext): Changes {
  return new Decision(stored, context).changes(batch);
}

/** A lead as it is after the deliveries of a batch that were decided so far. */
interface LeadState extends StoredLeadRow {
  readonly payload: Uint8Array | undefined;
  readonly isNew: boolean;
  attempts: number;
}

interface KeptDelivery {
  readonly arrival: Pick<Arrival, 'delivery' | 'place' | 'source' | 'createdAt'>;
  readonly id: string | null;
}

const noBytes = new Uint8Array();

class Decision {
  readonly #stored: StoredState;
  readonly #context: BatchContext;
  readonly #leads = new Map<string, LeadState>();
  readonly #nonces = new Map<string, BoundNonce>();
  readonly #deliveries: Value[][] = [];
  readonly #contents: Value[][] = [];
  readonly #forwards: Value[][] = [];
  readonly #trimmed = new Map<string, Changes['trimmed'][number]>();
  readonly #rejectedKinds = new Set<'rejected' | 'other'>();
  readonly #pushed = new Set<string>();
  #seq: number;
  #bytesToCompare = maxComparedBytes;

  constructor(stored: StoredState, context: BatchContext) {
    this.#stored = stored;
    this.#context = context;
    this.#seq = context.seq;
  }

  changes(batch: readonly BatchItem[]): Changes {
    const results = batch.map(({ deliveries, rejected }) => {
      for (const delivery of rejected) this.#reject(delivery);
      return deliveries.flatMap((delivery) => this.#take(delivery));
    });
    const states = [...this.#leads];
    return {
      results,
      seq: this.#seq,
      deliveries: this.#deliveries,
      contents: this.#contents,
      forwards: this.#forwards,
      nonces: this.#nonces,
      leads: states
        .filter(([, { isNew }]) => isNew)
        .map(([id, { seq, firstAt, attempts, digest }]) => [id, seq, firstAt, attempts, digest]),
      repeats: new Map(
        states
          .filter(([, { isNew }]) => !isNew)
          .map(([id, { attempts }]) => [id, attempts - (this.#stored.leads.get(id)?.attempts ?? 0)]),
      ),
      trimmed: [...this.#trimmed.values()],
      rejectedKinds: this.#rejectedKinds,
    };
  }

  #take({ content, leads, nonce }: ArrivingDelivery): TakeResult[] {
    const { erased } = this.#stored;
    const isErased = ({ arrival: { leadId } }: ArrivingLead): boolean => erased.has(leadId);
    const remaining = erased.size === 0 ? leads : leads.filter((lead) => !isErased(lead));
    if (nonce !== undefined && !this.#bind(nonce.key, nonce.digest)) {
      const verdict = rejection('replayed_nonce', 'the nonce came before, with another body');
      const [first] = leads;
      // Nothing is stored of an erased lead.
      if (first !== undefined && remaining.length === leads.length) {
        this.#addRejected(first.arrival, verdict, content);
      }
      return leads.map(() => verdict);
    }
    if (remaining.length === leads.length) return this.#takeLeads(leads, content);
    const places = remaining.flatMap(({ arrival: { place } }) => place ?? []);
    const results = this.#takeLeads(remaining, remainingContent(content, places));
    return leads.flatMap(({ arrival: { leadId } }): TakeResult[] => {
      const lead = erased.get(leadId);
      if (lead === undefined) return results.splice(0, 1);
      const { seq, firstAt, attempts } = lead;
      // Deliveries since the erasure are not counted.
      return [{ kind: 'duplicate', leadId, seq, firstAt, attempt: attempts + 1, isErased: true }];
    });
  }

  #takeLeads(leads: readonly ArrivingLead[], content: DeliveryContent): TakeResult[] {
    const request = this.#seq + 1;
    if (leads.length <= 1) return leads.map((lead) => this.#takeLead(lead, content, undefined));
    this.#contents.push([request, JSON.stringify(content.headers), content.body]);
    return leads.map((lead) => this.#takeLead(lead, content, request));
  }

  #takeLead(lead: ArrivingLead, content: DeliveryContent, firstSeq: number | undefined): TakeResult {
    const { arrival, id } = lead;
    const seq = (this.#seq += 1);
    const verdict = this.#verdict(lead, seq);
    this.#addDelivery(lead, verdict, content, firstSeq);
    const request = firstSeq ?? seq;
    if (verdict.kind === 'accepted') this.#addForwards(lead, request, arrival.claimed);
    else if (this.#isFirstPush(lead)) this.#addForwards(lead, request);
    if (verdict.attempt > maxRepeatsKept + 1) {
      const differs = verdict.differs !== undefined;
      this.#trimmed.set(`${String(differs)} ${id}`, { id, differs });
    }
    return { seq, ...verdict };
  }

  #verdict({ arrival, id, payload, digest }: ArrivingLead, seq: number): TakenVerdict {
    const { leadId } = arrival;
    const lead = this.#leads.get(id) ?? this.#storedLead(id);
    if (lead === undefined) {
      const { receivedAt: firstAt } = arrival.delivery;
      this.#leads.set(id, { seq, firstAt, digest, payload, isNew: true, attempts: 1 });
      return { kind: 'accepted', leadId, attempt: 1, firstAt };
    }
    lead.attempts += 1;
    this.#leads.set(id, lead);
    const isSame = Buffer.compare(lead.digest, digest) === 0;
    const differs = isSame ? undefined : this.#differences(lead.payload, payload);
    return { kind: 'duplicate', leadId, attempt: lead.attempts, firstAt: lead.firstAt, differs };
  }

  #storedLead(id: string): LeadState | undefined {
    const row = this.#stored.leads.get(id);
    return row && { ...row, payload: this.#stored.payloads.get(row.seq), isNew: false };
  }

  /** Compares payloads with different bytes: `*` where the first one was pruned, or comparing would take too long. */
  #differences(first: Uint8Array | undefined, payload: Uint8Array): readonly string[] | undefined {
    const bytes = (first?.length ?? Infinity) + payload.length;
    if (first === undefined || bytes > this.#bytesToCompare) return ['*'];
    this.#bytesToCompare -= bytes;
    const names = payloadDiff(first, payload);
    return names.length === 0 ? undefined : names;
  }

  /** A new lead is due for its targets at once, or claimed for its first attempt. */
  #addForwards({ arrival, id }: ArrivingLead, request: number, claimed: readonly string[] = []): void {
    const { now, claimMs, storedName } = this.#context;
    for (const target of arrival.targets ?? this.#context.targets) {
      const name = storedName(target);
      const [claim, claimedUntil] = claimed.includes(target) ? [1, now + claimMs] : [0, 0];
      // In the order of the columns: …, state, claim, tries, since, due_at, claimed_until.
      this.#forwards.push([id, name, this.#seq, request, 'waiting', claim, claim, now, now, claimedUntil]);
    }
  }

  /** The targets get what a receiver answers 200, even if an audit had stored the lead before. */
  #isFirstPush({ arrival: { source }, id }: ArrivingLead): boolean {
    if (source === 'backfill' || !this.#stored.unpushed.has(id) || this.#pushed.has(id)) return false;
    this.#pushed.add(id);
    return true;
  }

  /** False: the nonce is bound to another body. */
  #bind(key: string, digest: Uint8Array): boolean {
    const { noncesNow, nonceLifetimeMs } = this.#context;
    const bound = this.#nonces.get(key) ?? this.#stored.nonces.get(key);
    if (bound !== undefined && bound.expires > noncesNow) return Buffer.compare(bound.digest, digest) === 0;
    this.#nonces.set(key, { digest, expires: noncesNow + nonceLifetimeMs });
    return true;
  }

  #reject(rejected: RejectedContent): void {
    const { erased } = this.#stored;
    if (erased.size > 0 && rejectedIds(rejected).some((id) => erased.has(id))) return;
    this.#addRejected(rejected, rejected.rejection, rejected.content);
  }

  /** Only the start of its body is kept. */
  #addRejected(
    { delivery, leadId }: Pick<RejectedDelivery, 'delivery' | 'leadId'>,
    verdict: Rejection | OtherDelivery,
    content: DeliveryContent,
  ): void {
    this.#seq += 1;
    this.#rejectedKinds.add(verdict.kind);
    const id = leadId === undefined ? null : toColumn(leadId);
    const body = content.body.subarray(0, maxRejectedBody);
    this.#addDelivery({ arrival: { delivery }, id }, verdict, { ...content, body });
  }

  /** Adds a row under the last number. `other` is kept as rejected, told apart by its reason, for the index of those. */
  #addDelivery(
    { arrival: { delivery, place, source = 'push', createdAt }, id }: KeptDelivery,
    verdict: TakenVerdict | Rejection | OtherDelivery,
    { path, headers, body }: DeliveryContent,
    firstSeq?: number,
  ): void {
    const isTaken = !('reason' in verdict);
    const isShared = firstSeq !== undefined;
    const differs = isTaken ? verdict.differs : undefined;
    this.#deliveries.push([
      this.#seq,
      delivery.receivedAt,
      id,
      verdict.kind === 'other' ? 'rejected' : verdict.kind,
      isTaken ? null : verdict.reason,
      isTaken ? null : toColumn(verdict.detail),
      isTaken ? 200 : verdict.status,
      isTaken ? verdict.attempt : 1,
      source,
      differs === undefined ? null : JSON.stringify(differs),
      delivery.remote,
      delivery.method,
      path,
      isShared ? '[]' : JSON.stringify(headers),
      isShared ? noBytes : body,
      place?.start ?? null,
      place?.end ?? null,
      firstSeq ?? null,
      (isTaken && verdict.attempt === 1 ? createdAt : null) ?? null,
    ]);
  }
}
