import { sha256 } from '../json/bytes.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import type { OtherDelivery, Rejection } from '../webhook/delivery-answer.ts';
import {
  ComparisonBudget,
  decideErased,
  decideVerdict,
  replayedNonce,
  type TakenVerdict,
} from './decide-verdict.ts';
import {
  contentOf,
  type DeliveryContent,
  type DeliverySummary,
  groupByDelivery,
  keptVerdict,
  memberIds,
  remainingContent,
  summaryOf,
} from './delivery-record.ts';
import type { Arrival, ErasedLead, RejectedDelivery, TakeResult } from './inbox.ts';
import { toColumn, type Value } from './sql/statement.ts';
import { maxRejectedBody, maxRepeatsKept, type RedactDelivery } from './store-options.ts';

/** A lead on its way in. `id`: as a column has it. */
interface ArrivingLead {
  readonly arrival: Arrival;
  readonly id: string;
  readonly payload: Uint8Array;
  /** SHA-256 of the payload. */
  readonly digest: Uint8Array;
}

/** A delivery on its way in, and the leads in it. */
interface ArrivingDelivery {
  readonly content: DeliveryContent;
  readonly leads: readonly ArrivingLead[];
  /** `key` is the text in the column; `digest` is the SHA-256 of the whole body. */
  readonly nonce: { readonly key: string; readonly digest: Uint8Array } | undefined;
}

interface KeptRejection extends RejectedDelivery {
  readonly content: DeliveryContent;
}

/** The deliveries of one caller: those to store as received, and those to keep as rejected. */
export interface BatchItem {
  readonly deliveries: readonly ArrivingDelivery[];
  readonly rejected: readonly KeptRejection[];
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
  rejected: rejected.map((one) => ({ ...one, content: contentOf(one.delivery, redact) })),
});

function arrivingLead(arrival: Arrival, bodyDigest: Uint8Array | undefined): ArrivingLead {
  const { delivery, leadId, place } = arrival;
  const payload = leadBytes(delivery.body, place);
  const digest = place === undefined && bodyDigest !== undefined ? bodyDigest : sha256(payload);
  return { arrival, id: toColumn(leadId), payload, digest };
}

/** A batch is decided about once these are looked up. */
export interface Keys {
  /** As columns have them. */
  readonly leads: ReadonlySet<string>;
  readonly nonces: ReadonlySet<string>;
  /** Ids that may have been erased: those of the leads, and those in rejected deliveries. */
  readonly ids: () => ReadonlySet<string>;
}

export function keysOf(batch: readonly BatchItem[]): Keys {
  const leads = new Set<string>();
  const nonces = new Set<string>();
  for (const { deliveries } of batch) {
    for (const { leads: taken, nonce } of deliveries) {
      for (const { id } of taken) leads.add(id);
      if (nonce !== undefined) nonces.add(nonce.key);
    }
  }
  return { leads, nonces, ids: () => new Set(batch.flatMap(idsIn)) };
}

const idsIn = ({ deliveries, rejected }: BatchItem): readonly string[] => [
  ...deliveries.flatMap(({ leads }) => leads.map(({ arrival: { leadId } }) => leadId)),
  ...rejected.flatMap(rejectedIds),
];

/** Ids of the leads in a rejected delivery, of which nobody knows whether they are authentic. */
const rejectedIds = ({ leadId, delivery }: Pick<KeptRejection, 'leadId' | 'delivery'>): readonly string[] =>
  leadId === undefined ? memberIds(delivery.body) : [leadId];

/** A lead that came before this batch. */
interface StoredLeadRow {
  /** Of its first delivery. */
  readonly seq: number;
  readonly firstAt: number;
  readonly attempts: number;
  readonly digest: Uint8Array;
}

/** A nonce belongs to the body with this digest until it expires. */
export interface BoundNonce {
  readonly digest: Uint8Array;
  /** By the clock of the nonces. */
  readonly expires: number;
}

/** These are the rows that the inbox has for the keys of a batch. */
export interface StoredState {
  /** By ids as columns have them. */
  readonly leads: ReadonlyMap<string, StoredLeadRow>;
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  /** By ids as they are. */
  readonly erased: ReadonlyMap<string, ErasedLead>;
  /** First payloads with which other ones may be compared, by the numbers of their deliveries. */
  readonly payloads: ReadonlyMap<number, Uint8Array>;
  /** Ids, as columns have them, of leads that were fetched for no target and never pushed. */
  readonly unpushed: ReadonlySet<string>;
}

/** Numbers of first deliveries whose payload is not the one that comes now. */
export function differingSeqs(batch: readonly BatchItem[], leads: StoredState['leads']): readonly number[] {
  const seqs = new Set<number>();
  for (const { deliveries } of batch) {
    for (const { leads: taken } of deliveries) {
      for (const { id, digest } of taken) {
        const known = leads.get(id);
        if (known !== undefined && Buffer.compare(known.digest, digest) !== 0) seqs.add(known.seq);
      }
    }
  }
  return [...seqs];
}

/** A decision depends on this beside the batch and the stored state. Times are in milliseconds. */
export interface BatchContext {
  /** The last number that a delivery has. */
  readonly seq: number;
  readonly now: number;
  readonly claimMs: number;
  readonly noncesNow: number;
  readonly nonceLifetimeMs: number;
  /** Targets of a lead whose arrival names none. */
  readonly targets: readonly string[];
  readonly storedName: (target: string) => string;
}

/** These rows of the tables change by a batch. */
export interface Changes {
  /** Of each item of the batch, in order. */
  readonly results: readonly (readonly TakeResult[])[];
  readonly seq: number;
  readonly deliveries: readonly (readonly Value[])[];
  readonly contents: readonly (readonly Value[])[];
  readonly leads: readonly (readonly Value[])[];
  readonly forwards: readonly (readonly Value[])[];
  readonly nonces: ReadonlyMap<string, BoundNonce>;
  /** Further deliveries of leads that came before, by their ids. */
  readonly repeats: ReadonlyMap<string, number>;
  /** Leads with more repeats than are kept, of those that have another payload than the first one, or of the others. */
  readonly trimmed: readonly { readonly id: string; readonly differs: boolean }[];
  /** Kinds of deliveries that were not taken and are kept. */
  readonly untaken: ReadonlySet<RejectedDelivery['rejection']['kind']>;
}

/**
 * The verdicts on a batch, and what is stored for them: the only place where a verdict is made. A nonce is bound to the body that
 * came first with it, and committed with the lead.
 */
export function decide(batch: readonly BatchItem[], stored: StoredState, context: BatchContext): Changes {
  return new Decision(stored, context).changes(batch);
}

/** A lead as it is after the deliveries of a batch that were decided so far. */
interface LeadState {
  readonly seq: number;
  readonly firstAt: number;
  readonly digest: Uint8Array;
  readonly payload: Uint8Array | undefined;
  readonly isNew: boolean;
  attempts: number;
}

/** Rows of `forwards` for one lead; `claimed`: targets for which its first attempt is claimed. */
interface NewForward {
  readonly seq: number;
  readonly request: number;
  readonly claimed?: readonly string[] | undefined;
}

class Decision {
  readonly #stored: StoredState;
  readonly #context: BatchContext;
  readonly #comparison = new ComparisonBudget();
  readonly #leads = new Map<string, LeadState>();
  readonly #nonces = new Map<string, BoundNonce>();
  readonly #deliveries: Value[][] = [];
  readonly #contents: Value[][] = [];
  readonly #forwards: Value[][] = [];
  readonly #trimmed = new Map<string, { readonly id: string; readonly differs: boolean }>();
  readonly #untaken = new Set<RejectedDelivery['rejection']['kind']>();
  /** Leads that were unpushed before a delivery of this batch. */
  readonly #pushed = new Set<string>();
  #seq: number;

  constructor(stored: StoredState, context: BatchContext) {
    this.#stored = stored;
    this.#context = context;
    this.#seq = context.seq;
  }

  changes(batch: readonly BatchItem[]): Changes {
    const results = batch.map(({ deliveries, rejected }) => {
      for (const one of rejected) this.#reject(one);
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
      untaken: this.#untaken,
    };
  }

  #take({ content, leads, nonce }: ArrivingDelivery): TakeResult[] {
    const { erased } = this.#stored;
    const isErased = ({ arrival: { leadId } }: ArrivingLead): boolean => erased.has(leadId);
    const rest = erased.size === 0 ? leads : leads.filter((lead) => !isErased(lead));
    if (nonce !== undefined && !this.#bind(nonce.key, nonce.digest)) {
      const verdict = replayedNonce();
      // Nothing is stored of an erased lead.
      if (rest.length === leads.length) this.#addRejected(leads[0]?.arrival, verdict, content);
      return leads.map(() => verdict);
    }
    if (rest.length === leads.length) return this.#takeLeads(leads, content);
    const places = rest.flatMap(({ arrival: { place } }) => place ?? []);
    const taken = this.#takeLeads(rest, remainingContent(content, places));
    return leads.flatMap((lead): TakeResult[] => {
      const { leadId } = lead.arrival;
      const stays = erased.get(leadId);
      return stays === undefined ? taken.splice(0, 1) : [{ ...decideErased(leadId, stays), seq: stays.seq }];
    });
  }

  /** Leads of one delivery share its headers and its body. */
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
    this.#addDelivery(seq, id, summaryOf(arrival, verdict, content.path, firstSeq), content);
    const { claimed } = arrival;
    if (verdict.kind === 'accepted') this.#addForwards(lead, { seq, request: firstSeq ?? seq, claimed });
    else if (this.#isFirstPush(lead)) this.#addForwards(lead, { seq, request: firstSeq ?? seq });
    if (verdict.attempt > maxRepeatsKept + 1) {
      const differs = verdict.differs !== undefined;
      this.#trimmed.set(`${String(differs)} ${id}`, { id, differs });
    }
    return { seq, ...verdict };
  }

  #verdict({ arrival, id, payload, digest }: ArrivingLead, seq: number): TakenVerdict {
    const before = this.#leads.get(id) ?? this.#storedLead(id);
    if (before === undefined) {
      const { receivedAt: firstAt } = arrival.delivery;
      this.#leads.set(id, { seq, firstAt, digest, payload, isNew: true, attempts: 1 });
      return decideVerdict(undefined, arrival);
    }
    const isSame = Buffer.compare(before.digest, digest) === 0;
    const firstBody = isSame ? 'same' : this.#comparison.spend(before.payload, payload);
    const verdict = decideVerdict({ ...before, firstBody }, arrival);
    before.attempts = verdict.attempt;
    this.#leads.set(id, before);
    return verdict;
  }

  #storedLead(id: string): LeadState | undefined {
    const row = this.#stored.leads.get(id);
    return row && { ...row, payload: this.#stored.payloads.get(row.seq), isNew: false };
  }

  /** A new lead is due for its targets at once, or claimed for its first attempt. */
  #addForwards({ arrival, id }: ArrivingLead, { seq, request, claimed = [] }: NewForward): void {
    const { now, claimMs, targets: usual, storedName } = this.#context;
    const { targets = usual } = arrival;
    for (const target of targets) {
      const [tries, claimedUntil] = claimed.includes(target) ? [1, now + claimMs] : [0, 0];
      // In the order of the columns: …, state, tries, since, due_at, claimed_until.
      this.#forwards.push([id, storedName(target), seq, request, 'waiting', tries, now, now, claimedUntil]);
    }
  }

  /** What a receiver answers 200 its targets get, also where an audit had stored the lead before. */
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

  #reject(one: KeptRejection): void {
    const { erased } = this.#stored;
    if (erased.size > 0 && rejectedIds(one).some((id) => erased.has(id))) return;
    this.#addRejected({ delivery: one.delivery, leadId: one.leadId }, one.rejection, one.content);
  }

  /** Only the start of its body is kept. */
  #addRejected(
    rejected: Parameters<typeof summaryOf>[0] | undefined,
    verdict: Rejection | OtherDelivery,
    content: DeliveryContent,
  ): void {
    if (rejected === undefined) return;
    const { leadId } = rejected;
    const kept = { ...content, body: content.body.subarray(0, maxRejectedBody) };
    this.#untaken.add(verdict.kind);
    const id = leadId === undefined ? null : toColumn(leadId);
    this.#addDelivery((this.#seq += 1), id, summaryOf(rejected, verdict, content.path), kept);
  }

  #addDelivery(seq: number, id: string | null, summary: DeliverySummary, content: DeliveryContent): void {
    const isShared = summary.firstSeq !== undefined;
    this.#deliveries.push([
      seq,
      summary.receivedAt,
      id,
      keptVerdict(summary.verdict),
      summary.reason ?? null,
      summary.detail === undefined ? null : toColumn(summary.detail),
      summary.status,
      summary.attempt,
      summary.source,
      summary.differs === undefined ? null : JSON.stringify(summary.differs),
      summary.remote,
      summary.method,
      summary.path,
      isShared ? '[]' : JSON.stringify(content.headers),
      isShared ? noBytes : content.body,
      summary.place?.start ?? null,
      summary.place?.end ?? null,
      summary.firstSeq ?? null,
      summary.createdAt ?? null,
    ]);
  }
}

const noBytes = new Uint8Array();
