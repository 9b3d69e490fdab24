import type { Delivery } from '../webhook/delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import type { TakenKind, Verdict, VerdictKind } from './decide-verdict.ts';

/** Where a lead came from: the service pushed it, or `--backfill` fetched it. */
export type Source = 'push' | 'backfill';

/** A delivery that authenticated and holds a lead, on its way into the inbox. */
export interface Arrival {
  readonly delivery: Delivery;
  readonly leadId: string;
  /** Good for this body only. */
  readonly nonce?: string | undefined;
  /** Default `push`. */
  readonly source?: Source | undefined;
}

/** A delivery that is not taken in, and why. */
export interface RejectedDelivery {
  readonly delivery: Delivery;
  readonly rejection: Rejection;
  /** Where the body could be read that far. */
  readonly leadId?: string | undefined;
}

/** Names one stored delivery. */
export interface StoredRef {
  readonly leadId: string;
  /** The delivery's number in the inbox, growing. */
  readonly seq: number;
}

/** The verdict on an arrival, and the number it is stored under; a rejected one is stored as well. */
export type TakeResult = Rejection | (Exclude<Verdict, Rejection> & StoredRef);

/** One target that a stored delivery's lead is handed to. `take` leases it to one receiver at a time. */
export interface TargetLease extends StoredRef {
  readonly target: string;
  /** What came of it, to be kept with the delivery. */
  readonly result?: HandedResult | undefined;
}

/** What came of handing a lead to a target. */
export interface HandedResult {
  readonly ok: boolean;
  /** The target's answer in a few words: a status, an exit code, or why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
}

/** The same as it was stored. `target`: a label that holds no credentials, such as `forward http://localhost:3000`. */
export interface StoredResult extends HandedResult {
  readonly target: string;
}

/** Whether a target of a lead may be handed it now: nothing is outstanding for it, or another receiver does it. */
export type LeaseState = 'leased' | 'busy' | 'not outstanding';

/** Leads that one target has not had. */
export interface Outstanding {
  /** A label that holds no credentials, such as `forward http://localhost:3000`. */
  readonly target: string;
  readonly leads: number;
  /** Whether this receiver hands leads to it. */
  readonly wanted: boolean;
}

/** Repeats of one lead that are not kept any more. */
export interface DroppedRepeats {
  /** With another payload than the first one. */
  readonly differing: number;
  readonly same: number;
}

/** A delivery as it was stored. */
export interface StoredDelivery {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly leadId: string | undefined;
  readonly verdict: VerdictKind;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
  readonly status: number;
  readonly attempt: number;
  readonly source: Source;
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  /** As sent, with credentials redacted. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The raw body; of a rejected delivery at most the first 16 KiB. */
  readonly body: Uint8Array;
  readonly differs: readonly string[] | undefined;
  /** Each time its lead was handed to a target, oldest first. */
  readonly results: readonly StoredResult[];
}

/** A lead in the inbox, in the webhook's own bytes. */
export interface StoredLead extends StoredRef {
  readonly receivedAt: number;
  readonly source: Source;
  readonly body: Uint8Array;
}

/** All conditions must hold. Times are milliseconds since the epoch, half-open: since <= receivedAt < until. */
export interface InboxQuery {
  /** `pending`: what is outstanding now, as the newest delivery of each such lead that was answered so. */
  readonly verdicts?: readonly VerdictKind[] | undefined;
  readonly leadId?: string | undefined;
  readonly seq?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Which leads are asked for, by where they stand now. Default: the accepted ones. */
export interface LeadQuery extends Pick<InboxQuery, 'since' | 'until'> {
  readonly states?: readonly Exclude<TakenKind, 'duplicate'>[] | undefined;
}

/** The part of an inbox that only reads. */
export type InboxReader = Pick<
  Inbox,
  'location' | 'list' | 'leads' | 'has' | 'outstanding' | 'droppedRepeats' | 'close'
>;

/**
 * The durable record of deliveries. Everything may wait for a store on another machine, and what is asked for many
 * deliveries is asked in one batch. What a method wrote is durable when it resolves; batches of several callers may
 * share one transaction. A failure to store is a `CannotStoreError`, of the caller's whole batch and of nobody else's; the
 * next call may work again.
 */
export interface Inbox {
  /** Path of the file, or `:memory:`. */
  readonly location: string;
  /** One verdict for each arrival, in order. */
  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]>;
  /** Keeps rejected deliveries; only the last 1,000 stay, 16 KiB of body each. */
  reject(rejected: readonly RejectedDelivery[]): Promise<void>;
  /**
   * The targets have had the leads. One result for each, in order: `pending` while a wanted target has not had the lead,
   * then `accepted` for the lead's first delivery and `duplicate` for any other.
   */
  settle(leases: readonly TargetLease[]): Promise<readonly TakenKind[]>;
  /** The targets did not take the leads: any receiver may try again now. */
  release(leases: readonly TargetLease[]): Promise<void>;
  /** Leases what is outstanding for a target without a delivery. One state for each, in order. */
  lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]>;
  /** Leads that this target has not had. */
  unsettled(target: string): AsyncIterable<StoredRef>;
  /** Targets that have not had some lead, those of earlier runs included. */
  outstanding(): Promise<readonly Outstanding[]>;
  /** Newest first. */
  list(query: InboxQuery): AsyncIterable<StoredDelivery>;
  /** Every lead once, in order of arrival; leads whose body was pruned are left out. */
  leads(query: LeadQuery): AsyncIterable<StoredLead>;
  /** Repeats of the lead that are not kept: only the newest are. */
  droppedRepeats(leadId: string): Promise<DroppedRepeats>;
  /** Those of the ids whose lead was ever accepted, pruned or not. */
  has(leadIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Drops deliveries received before that time, and keeps the ids, and what is outstanding for some target. Resolves to
   * the number of dropped deliveries.
   */
  prune(before: number): Promise<number>;
  /** Gives the system back what pruned deliveries took. Nothing else goes on meanwhile. */
  compact(): Promise<void>;
  close(): Promise<void>;
}
