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
  readonly source: Source;
  readonly body: Uint8Array;
}

export interface ReceivedLead {
  readonly seq: number;
  readonly receivedAt: number;
  /** SHA-256 of the lead's own bytes as they first came, in lower-case hex; undefined when the lead was erased. */
  readonly digest: string | undefined;
  readonly isWaiting: boolean;
}

/** A lead that was received, and of which nothing else is left. */
export interface PrunedLead extends StoredRef {
  readonly receivedAt: number;
}

/** Leads that were received, looked up in batches of at most 1,000: what comparing them with another list takes. */
export interface ReceivedLeads {
  /** Gives one for each id, in order; undefined where no delivery of that id was ever taken in. An erased lead was. */
  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]>;
  /** The numbers of all leads that were first received then or later (ms since the epoch), in batches, in no order. */
  seqsSince(since: number): AsyncIterable<readonly number[]>;
  /** The leads of those numbers, in no order; those whose body was pruned are left out. */
  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]>;
  /** Leads whose body was pruned, and that were first received then or later (ms since the epoch), in batches, in no order. */
  prunedSince(since: number): AsyncIterable<readonly PrunedLead[]>;
}

/**
 * The reason why a lead was sent to a target: it came, the target had not taken it, a person sent it once more, or it never came
 * and was read back from the service.
 */
export type AttemptKind = 'forward' | 'retry' | 'replay' | 'repair';

export interface AttemptResult {
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
  readonly at: number;
  readonly kind: AttemptKind;
}

export interface StoredResult extends AttemptResult {
  readonly target: string;
  readonly address?: string | undefined;
}

/** A delivery as it was stored; where it brought several leads, once for each of them. Times are milliseconds since the epoch. */
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
  /** The headers that came, with credentials redacted. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The raw body; of a rejected or other delivery at most the first 16 KiB. */
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

/** Half-open, in milliseconds since the epoch, in parts of one length. */
export interface CountQuery {
  readonly since: number;
  readonly until: number;
  readonly partMs: number;
  readonly onlyRemoved?: boolean | undefined;
}

/** Deliveries that have all of this in common; several of them may be of the same. */
export interface DeliveryCount {
  readonly part: number;
  readonly verdict: VerdictKind;
  readonly reason: string | undefined;
  readonly source: Source;
  /** The how many-th of its lead, from 1; 10 stands for more. */
  readonly attempt: number;
  readonly count: number;
  readonly isRemoved: boolean;
  /** From the creation of each lead to its first delivery, in milliseconds and not below 0, as far as both are stored. */
  readonly delays: readonly number[];
}

/** Attempts are counted apart up to this one, which stands for more. */
export const mostAttemptsCounted = 10;

/** Removed deliveries are counted by the minute, in milliseconds. */
export const removedPerMs = 60_000;

export interface InboxChanges {
  /** Another text after something was written, by whichever process; so cheap that it may be asked each second. */
  changeMark(): Promise<string>;
  /** Rejects with a `DataError` where the inbox cannot be read, or its file is not the one that was opened. */
  checkReadable(): Promise<void>;
  /** Counts all deliveries of that time, also those that were removed, in small steps. */
  counts(query: CountQuery): AsyncIterable<readonly DeliveryCount[]>;
}

/** All conditions must hold. Times are milliseconds since the epoch, half-open: since <= receivedAt < until. */
export interface InboxQuery {
  /** `waiting` and `dead`: first deliveries of leads that some target has not had, or that were given up for one. */
  readonly verdicts?: readonly (VerdictKind | 'waiting' | 'dead')[] | undefined;
  readonly leadId?: string | undefined;
  readonly seq?: number | undefined;
  /** The several leads of one request: that field of each. */
  readonly firstSeq?: number | undefined;
  /** Numbers below that one, and above this one: both are left out themselves. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
