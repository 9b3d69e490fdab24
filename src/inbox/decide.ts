import { sha256 } from '../json/bytes.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { type OtherDelivery, type Rejection, rejection } from '../webhook/delivery-answer.ts';
import { type DeliveryContent, memberIds, remainingContent } from './remaining-content.ts';
import type { Arrival, ErasedLead, RejectedDelivery, TakenVerdict, TakeResult } from './inbox.ts';
import { payloadDiff } from '../json/payload-diff.ts';
import type { Value } from './sql/row.ts';
import { toColumn } from './sql/statement.ts';
import { maxComparedBytes, maxRejectedBody, maxRepeatsKept, type RedactDelivery } from './store-options.ts';

/** A lead of an arrival. `id` is the id as the text of its column, `payload` the lead's own bytes, `digest` their SHA-256. */
interface ArrivingLead {
  readonly arrival: Arrival;
  readonly id: string;
  readonly payload: Uint8Array;
  readonly digest: Uint8Array;
}

interface ArrivingDelivery {
  readonly content: DeliveryContent;
  readonly leads: readonly ArrivingLead[];
  /** The nonce as the text of its column, and the SHA-256 of the whole body, to which it is bound. */
  readonly nonce: { readonly key: string; readonly digest: Uint8Array } | undefined;
}

interface RejectedContent extends RejectedDelivery {
  readonly content: DeliveryContent;
}

/** The deliveries of one call of `Inbox.take` or `Inbox.reject`. */
export interface BatchItem {
  readonly deliveries: readonly ArrivingDelivery[];
  readonly rejected: readonly RejectedContent[];
}

export const takeItem = (arrivals: readonly Arrival[], redact: RedactDelivery): BatchItem => ({
  deliveries: groupByDelivery(arrivals).map(([first, ...more]) => {
    const { delivery, nonce, place } = first;
    const isBodyTheLead = place === undefined;
    const bodyDigest = isBodyTheLead || nonce !== undefined ? sha256(delivery.body) : undefined;
    return {
      content: contentOf(delivery, redact),
      leads: [first, ...more].map((arrival) => arrivingLead(arrival, bodyDigest)),
      nonce:
        nonce === undefined || bodyDigest === undefined
          ? undefined
          : { key: toColumn(nonce), digest: bodyDigest },
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

/** Groups the leads of one delivery, which follow each other. An arrival without a place is a group of its own: its body is the lead. */
function groupByDelivery(arrivals: readonly Arrival[]): readonly (readonly [Arrival, ...Arrival[]])[] {
  const groups: [Arrival, ...Arrival[]][] = [];
  for (const arrival of arrivals) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const haveTheirPlaces = arrival.place !== undefined && first?.place !== undefined;
    if (haveTheirPlaces && first.delivery === arrival.delivery) group?.push(arrival);
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

/**
 * The keys of the rows that a decision on the batch depends on: `leads` and `nonces` as texts of their columns, and `ids`, the ids
 * that may have been erased, in leads and in rejected deliveries. To find these takes long, and is seldom needed.
 */
export function keysOf(batch: readonly BatchItem[]) {
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

/** Ids that a rejected delivery names: all in its body where nothing tells which of them are of leads. */
const rejectedIds = ({ leadId, delivery }: RejectedDelivery): readonly string[] =>
  leadId === undefined ? memberIds(delivery.body) : [leadId];

interface StoredLeadRow extends ErasedLead {
  readonly digest: Uint8Array;
}

interface BoundNonce {
  readonly digest: Uint8Array;
  readonly expires: number;
}

/**
 * The rows that the inbox has for the keys of a batch. `leads`, `nonces` and `unpushed` have the texts of their columns as keys,
 * `erased` the ids themselves, and `payloads`, the first bytes of leads that differ now, the numbers of their deliveries. The leads of
 * `unpushed` were fetched for no target, as by an audit, and never pushed.
 */
export interface StoredState {
  readonly leads: ReadonlyMap<string, StoredLeadRow>;
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  readonly erased: ReadonlyMap<string, ErasedLead>;
  readonly payloads: ReadonlyMap<number, Uint8Array>;
  readonly unpushed: ReadonlySet<string>;
}

/**
 * A decision depends on this beside the batch and the stored state: the last number of a delivery (`seq`), the time by the clock of
 * `forwards` (`now`) and by that of the nonces, and the targets of a lead whose arrival names none. Times are in milliseconds.
 */
export interface BatchContext {
  readonly seq: number;
  readonly now: number;
  readonly claimMs: number;
  readonly noncesNow: number;
  readonly nonceLifetimeMs: number;
  readonly targets: readonly string[];
  readonly storedName: (target: string) => string;
}

type TableRow = readonly Value[];

/**
 * The results for each item of a batch, and what is to be stored: new rows of four tables, in the order of their columns; nonces that
 * are bound from now on; how many deliveries leads have that were stored before (`repeated`); and what may be more
 * than is kept from now on: repeats of these leads (`trimmed`: those that differ from the first payload, or the others), and rejected
 * deliveries of these kinds.
 */
export interface Changes {
  readonly results: readonly (readonly TakeResult[])[];
  readonly seq: number;
  readonly deliveries: readonly TableRow[];
  readonly contents: readonly TableRow[];
  readonly leads: readonly TableRow[];
  readonly forwards: readonly TableRow[];
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  readonly repeated: ReadonlyMap<string, number>;
  readonly trimmed: readonly { readonly id: string; readonly differs: boolean }[];
  readonly rejectedKinds: ReadonlySet<'rejected' | 'other'>;
}

/**
 * Decides on a batch, and is the only place where a verdict is made. Each delivery is decided after those before it in the batch: its
 * nonce is compared with the body that came first with it, its erased leads are left out, and each lead gets a number, a row and its
 * verdict. A new lead gets a row for each of its targets as well.
 */
export function decide(batch: readonly BatchItem[], stored: StoredState, context: BatchContext): Changes {
  return new Decision(stored, context).decide(batch);
}

/** `payload`: the first bytes of the lead, where they are known. `attempts` counts the deliveries that were decided so far. */
interface LeadState extends StoredLeadRow {
  readonly payload: Uint8Array | undefined;
  readonly isNew: boolean;
  attempts: number;
}

interface KeptDelivery {
  readonly arrival: Pick<Arrival, 'delivery' | 'place' | 'source'>;
  readonly id: string | null;
}

const noBytes = new Uint8Array();

/** The decision on one batch. Its members grow with each delivery that is decided. */
class Decision {
  readonly #stored: StoredState;
  readonly #context: BatchContext;
  /** The leads of the batch so far, and those of them that were unpushed before it and are pushed in it; by the texts of their ids. */
  readonly #leads = new Map<string, LeadState>();
  readonly #pushed = new Set<string>();
  readonly #nonces = new Map<string, BoundNonce>();
  readonly #deliveries: TableRow[] = [];
  readonly #contents: TableRow[] = [];
  readonly #forwards: TableRow[] = [];
  readonly #trimmed = new Map<string, Changes['trimmed'][number]>();
  readonly #rejectedKinds = new Set<'rejected' | 'other'>();
  #lastSeq: number;
  #comparableBytesLeft = maxComparedBytes;

  constructor(stored: StoredState, context: BatchContext) {
    this.#stored = stored;
    this.#context = context;
    this.#lastSeq = context.seq;
  }

  decide(batch: readonly BatchItem[]): Changes {
    const results = batch.map(({ deliveries, rejected }) => {
      for (const delivery of rejected) this.#keepRejected(delivery);
      return deliveries.flatMap((delivery) => this.#takeDelivery(delivery));
    });
    const states = [...this.#leads];
    return {
      results,
      seq: this.#lastSeq,
      deliveries: this.#deliveries,
      contents: this.#contents,
      forwards: this.#forwards,
      nonces: this.#nonces,
      leads: states
        .filter(([, { isNew }]) => isNew)
        .map(([id, { seq, firstAt, attempts, digest }]) => [id, seq, firstAt, attempts, digest]),
      repeated: new Map(states.filter(([, { isNew }]) => !isNew).map(([id, { attempts }]) => [id, attempts])),
      trimmed: [...this.#trimmed.values()],
      rejectedKinds: this.#rejectedKinds,
    };
  }

  #takeDelivery({ content, leads, nonce }: ArrivingDelivery): readonly TakeResult[] {
    const { erased } = this.#stored;
    const remaining =
      erased.size === 0 ? leads : leads.filter(({ arrival: { leadId } }) => !erased.has(leadId));
    const hasErased = remaining.length < leads.length;
    if (nonce !== undefined && !this.#bindNonce(nonce.key, nonce.digest)) {
      const verdict = rejection('replayed_nonce', 'the nonce came before, with another body');
      const [first] = leads;
      if (first !== undefined && !hasErased) this.#addRejected(first.arrival, verdict, content);
      return leads.map(() => verdict);
    }
    if (!hasErased) return this.#takeLeads(leads, content);
    const places = remaining.flatMap(({ arrival: { place } }) => place ?? []);
    const results = this.#takeLeads(remaining, remainingContent(content, places));
    const resultOf = new Map(remaining.map((lead, i) => [lead, results[i]]));
    return leads.flatMap((lead) => {
      const { leadId } = lead.arrival;
      const history = erased.get(leadId);
      return history === undefined ? (resultOf.get(lead) ?? []) : repeatOfErased(leadId, history);
    });
  }

  /** Headers and body of a delivery of several leads are stored once, under the number of the first of them. */
  #takeLeads(leads: readonly ArrivingLead[], content: DeliveryContent): readonly TakeResult[] {
    if (leads.length <= 1) return leads.map((lead) => this.#takeLead(lead, content, undefined));
    const firstSeq = this.#lastSeq + 1;
    this.#contents.push([firstSeq, JSON.stringify(content.headers), content.body]);
    return leads.map((lead) => this.#takeLead(lead, content, firstSeq));
  }

  #takeLead(lead: ArrivingLead, content: DeliveryContent, firstSeq: number | undefined): TakeResult {
    const { arrival, id } = lead;
    const seq = (this.#lastSeq += 1);
    const verdict = this.#countLead(lead, seq);
    this.#addDelivery(lead, verdict, content, firstSeq);
    const request = firstSeq ?? seq;
    if (verdict.kind === 'accepted') this.#addForwards(lead, request, arrival.claimed);
    else if (this.#isFirstPush(lead)) {
      // The targets get what a receiver answers 200, even if an audit had stored the lead before.
      this.#pushed.add(id);
      this.#addForwards(lead, request);
    }
    if (verdict.attempt > maxRepeatsKept + 1) {
      const differs = verdict.differs !== undefined;
      this.#trimmed.set(`${String(differs)} ${id}`, { id, differs });
    }
    return { seq, ...verdict };
  }

  /** Counts the delivery among those of its lead, and gives its verdict. */
  #countLead({ arrival, id, payload, digest }: ArrivingLead, seq: number): TakenVerdict {
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

  /** The names of fields that differ; `*` where the first payload was pruned, or comparing would take too long; undefined: none. */
  #differences(first: Uint8Array | undefined, payload: Uint8Array): readonly string[] | undefined {
    if (first === undefined) return ['*'];
    const bytes = first.length + payload.length;
    if (bytes > this.#comparableBytesLeft) return ['*'];
    this.#comparableBytesLeft -= bytes;
    const names = payloadDiff(first, payload);
    return names.length === 0 ? undefined : names;
  }

  /** A new lead is due for its targets at once, or claimed for its first attempt. */
  #addForwards({ arrival, id }: ArrivingLead, request: number, claimed: readonly string[] = []): void {
    const { now, claimMs, storedName } = this.#context;
    const seq = this.#lastSeq;
    for (const target of arrival.targets ?? this.#context.targets) {
      const name = storedName(target);
      const [claim, claimedUntil] = claimed.includes(target) ? [1, now + claimMs] : [0, 0];
      const tries = claim;
      this.#forwards.push([id, name, seq, request, 'waiting', claim, tries, now, now, claimedUntil]);
    }
  }

  #isFirstPush({ arrival: { source }, id }: ArrivingLead): boolean {
    return source !== 'backfill' && this.#stored.unpushed.has(id) && !this.#pushed.has(id);
  }

  /** Gives false, and changes nothing, where the nonce is bound to another body. */
  #bindNonce(key: string, digest: Uint8Array): boolean {
    const { noncesNow, nonceLifetimeMs } = this.#context;
    const bound = this.#nonces.get(key) ?? this.#stored.nonces.get(key);
    if (bound !== undefined && bound.expires > noncesNow) return Buffer.compare(bound.digest, digest) === 0;
    this.#nonces.set(key, { digest, expires: noncesNow + nonceLifetimeMs });
    return true;
  }

  #keepRejected(rejected: RejectedContent): void {
    const { erased } = this.#stored;
    const namesErased = erased.size > 0 && rejectedIds(rejected).some((id) => erased.has(id));
    if (namesErased) return;
    this.#addRejected(rejected, rejected.rejection, rejected.content);
  }

  #addRejected(
    { delivery, leadId }: Pick<RejectedDelivery, 'delivery' | 'leadId'>,
    verdict: Rejection | OtherDelivery,
    content: DeliveryContent,
  ): void {
    this.#lastSeq += 1;
    this.#rejectedKinds.add(verdict.kind);
    const id = leadId === undefined ? null : toColumn(leadId);
    const body = content.body.subarray(0, maxRejectedBody);
    this.#addDelivery({ arrival: { delivery }, id }, verdict, { ...content, body });
  }

  /** Adds a row under the last number. An `other` delivery is stored as a rejected one with its own reason, so that one index serves both. */
  #addDelivery(
    { arrival: { delivery, place, source = 'push' }, id }: KeptDelivery,
    verdict: TakenVerdict | Rejection | OtherDelivery,
    { path, headers, body }: DeliveryContent,
    firstSeq?: number,
  ): void {
    const isTaken = !('reason' in verdict);
    const isShared = firstSeq !== undefined;
    const differs = isTaken ? verdict.differs : undefined;
    this.#deliveries.push([
      this.#lastSeq,
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
    ]);
  }
}

/** Deliveries since the erasure are not counted: each of them is the first one after it. */
function repeatOfErased(leadId: string, { seq, firstAt, attempts }: ErasedLead): TakeResult {
  return { kind: 'duplicate', leadId, seq, firstAt, attempt: attempts + 1, isErased: true };
}
