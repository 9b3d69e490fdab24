import type { Span } from '../json/members.ts';
import type { OtherDelivery, Rejection } from '../webhook/delivery-answer.ts';

export type VerdictKind = 'accepted' | 'duplicate' | Rejection['kind'] | OtherDelivery['kind'];

/** The origin of a lead: the service pushed it, or `--backfill` fetched it. */
export type Source = 'push' | 'backfill';

export interface StoredRef {
  readonly leadId: string;
  /** The delivery's number in the inbox, growing. */
  readonly seq: number;
}

export interface StoredLead extends StoredRef {
  readonly receivedAt: number;
  readonly body: Uint8Array;
}

export interface ReceivedLead {
  readonly seq: number;
  readonly receivedAt: number;
  /** SHA-256 of the lead's own bytes as they first came, in lower-case hex; undefined when the lead was erased. */
  readonly digest: string | undefined;
  readonly isWaiting: boolean;
}

/** A lead whose deliveries were pruned: no more than this is known of it. */
export interface PrunedLead extends StoredRef {
  readonly receivedAt: number;
}

/** Reads leads that were received, to compare them with another list; at most 1,000 ids or numbers in one call. */
export interface ReceivedLeads {
  /** Resolves to a lead for each id, in order, also for an erased one; undefined where no delivery of that id was ever taken in. */
  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]>;
  /** The numbers of all leads that were first received then or later (ms since the epoch), in batches, in no order. */
  seqsSince(since: number): AsyncIterable<readonly number[]>;
  /** The leads of those numbers, in no order; those whose body was pruned are left out. */
  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]>;
  /** Leads whose body was pruned, and that were first received then or later (ms since the epoch), in batches, in no order. */
  prunedSince(since: number): AsyncIterable<readonly PrunedLead[]>;
}

/**
 * The reason why a lead was sent to a target. `forward`: it came. `retry`: the target had not taken it. `replay`: a person sent it once
 * more. `repair`: it never came, and was read from the service.
 */
export type AttemptKind = 'forward' | 'retry' | 'replay' | 'repair';

/** The end of an attempt, at the time `at`. `answer` tells it: the status that the target answered, `written`, or a failure. */
export interface AttemptResult {
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
  readonly at: number;
  readonly kind: AttemptKind;
}

/** `address`: the URL of a forward without what may be a credential; undefined for other targets. */
export interface StoredResult extends AttemptResult {
  readonly target: string;
  readonly address?: string | undefined;
}

/**
 * A delivery as it was stored; where it brought several leads, once for each of them. Times are milliseconds since the epoch. `detail`
 * is the sentence to the `reason` of a rejected or other delivery. `place` is the part of the body that is the lead, undefined where
 * the body is the lead. `differs` names the fields of a repeat that differ from the first delivery of its lead: `*` alone where that was
 * pruned or the two are too large to compare, and undefined where none differs.
 */
export interface StoredDelivery {
  readonly seq: number;
  readonly receivedAt: number;
  readonly leadId: string | undefined;
  readonly verdict: VerdictKind;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
  /** The status of the one answer to the delivery, which another lead in it may have decided. */
  readonly status: number;
  readonly attempt: number;
  readonly source: Source;
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  /** The headers that came, with credentials redacted, and the raw body; of a rejected or other delivery at most the first 16 KiB. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly place: Span | undefined;
  /** The number of the first one of the several leads that came in the same request; undefined where it was the only one. */
  readonly firstSeq: number | undefined;
  readonly differs: readonly string[] | undefined;
  readonly results: readonly StoredResult[];
}

export interface StoredReceipt extends Pick<
  StoredDelivery,
  'seq' | 'receivedAt' | 'leadId' | 'verdict' | 'reason' | 'attempt' | 'source'
> {
  /** The lead's own bytes, or the body of a delivery without one; undefined where they are not asked for. */
  readonly lead: Uint8Array | undefined;
}

export interface ReceiptQuery extends Pick<InboxQuery, 'since' | 'until'> {
  /** Asks for the bytes of each delivery, and not only for those of the first one of each lead. */
  readonly withRepeats: boolean;
}

/** Counts what was received from `since` on and before `until`, in milliseconds since the epoch, in parts of `partMs` each. */
export interface CountQuery {
  readonly since: number;
  readonly until: number;
  readonly partMs: number;
}

/**
 * The number of deliveries that agree in `part`, which counts from 0, `verdict` and `isRemoved`; several counts of one query may agree in
 * these and add up. A removed delivery was pruned, erased or dropped as one of too many: the inbox keeps nothing of it but such a count.
 */
export interface DeliveryCount {
  readonly part: number;
  readonly verdict: VerdictKind;
  readonly count: number;
  readonly isRemoved: boolean;
}

/** The number of removed deliveries that agree in the other members. `isRepeat`: none of them was the first one of its lead. */
export interface RemovedCount extends Pick<StoredDelivery, 'verdict' | 'reason' | 'source'> {
  readonly isRepeat: boolean;
  readonly count: number;
}

export const removedCountStepMs = 60_000;

export interface InboxChanges {
  /**
   * Another text after something was written, by whichever process; so cheap that it may be asked each second. Rejects with a
   * `DataError` where the inbox cannot be read, or its file is not the one that was opened.
   */
  changeMark(): Promise<string>;
  /** Counts all deliveries of that time, also those that were removed, in small steps. */
  counts(query: CountQuery): AsyncIterable<readonly DeliveryCount[]>;
  /** Counts the removed deliveries that were received from `since` on and before `until`. */
  removedCounts(query: Pick<CountQuery, 'since' | 'until'>): Promise<readonly RemovedCount[]>;
}

/**
 * All conditions must hold. Times are milliseconds since the epoch: `since` <= `receivedAt` < `until`. Numbers are less than `before` and
 * greater than `after`; `firstSeq` finds all leads of one request. `waiting` and `dead` find the first deliveries of leads that wait or
 * are dead at some target.
 */
export interface InboxQuery {
  readonly verdicts?: readonly (VerdictKind | 'waiting' | 'dead')[] | undefined;
  readonly leadId?: string | undefined;
  readonly seq?: number | undefined;
  readonly firstSeq?: number | undefined;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
