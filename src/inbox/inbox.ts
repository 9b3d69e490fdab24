import type { Problem } from '../errors.ts';
import type { Span } from '../json/members.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherDelivery, Rejection } from '../webhook/delivery-answer.ts';
import type {
  AttemptResult,
  InboxChanges,
  InboxQuery,
  ReceiptQuery,
  ReceivedLeads,
  Source,
  StoredDelivery,
  StoredLead,
  StoredReceipt,
  StoredRef,
} from './query-types.ts';

export type { AttemptResult, InboxQuery, Source, StoredDelivery, StoredRef } from './query-types.ts';

/** A lead of a delivery that authenticated, on its way into the inbox. */
export interface Arrival {
  readonly delivery: Delivery;
  readonly leadId: string;
  /** The lead's position in a body that holds more than the lead; undefined where the body is the lead. */
  readonly place?: Span | undefined;
  /** The key of the delivery's nonce. A later delivery with this nonce and another body is rejected as a replay. */
  readonly nonce?: string | undefined;
  readonly createdAt?: number | undefined;
  readonly source?: Source | undefined;
  /** The lead goes to these targets of the receiver. Default: all of them. */
  readonly targets?: readonly string[] | undefined;
  /** A new lead is claimed at once for these of them, as its first attempt. Default: none. */
  readonly claimed?: readonly string[] | undefined;
}

/** A delivery that is not taken in, and why: it was rejected, or is genuine and no lead. */
export interface RejectedDelivery {
  readonly delivery: Delivery;
  readonly rejection: Rejection | OtherDelivery;
  /** Left out where the body could not be read that far. */
  readonly leadId?: string | undefined;
}

export type TakenVerdict = {
  readonly kind: 'accepted' | 'duplicate';
  readonly leadId: string;
  /** This delivery is the how many-th of its lead, from 1. */
  readonly attempt: number;
  readonly firstAt: number;
  /** Dotted names of fields whose values are not those of the first payload; `*` when they were not compared. */
  readonly differs?: readonly string[] | undefined;
  readonly isErased?: true;
};

/** The verdict on an arrival, and the number it is stored under; a rejected one is stored as well. */
export type TakeResult = Rejection | (TakenVerdict & StoredRef);

export type ForwardState = 'waiting' | 'done' | 'dead';

/** A lead that a receiver may send to a target now: no other one does until the claim ends. */
export interface ClaimedLead extends StoredRef {
  /** The number of the first one of the leads that came in the same request. */
  readonly request: number;
  /** Counts the claims of this lead at this target, so that the end of an expired claim cannot end the current one. */
  readonly claim: number;
  /** The how many-th attempt this is, from 1. */
  readonly tries: number;
  /** When the lead came, or a person made it due; milliseconds since the epoch. */
  readonly since: number;
}

interface ClaimOptions {
  /** The leads that came in one request are claimed together, even if these are more than `limit`. */
  readonly isWhole?: boolean | undefined;
  /** Claims the latest untried lead, to find out whether the target is back: it may refuse the earliest and take all others. */
  readonly isProbe?: boolean | undefined;
}

export interface AttemptRecord extends StoredRef {
  readonly target: string;
  /** A record other than `done` changes nothing where the lead was claimed after that, or made due by a person. */
  readonly claim: number;
  /** `untried`: nothing was sent, and the lead is due as before. */
  readonly outcome: 'done' | 'dead' | 'untried' | { readonly retryInMs: number };
  readonly result?: AttemptResult | undefined;
  /** The stored name of the target for which the lead waited, where another one took it instead. */
  readonly insteadOf?: string | undefined;
}

/** The answer to a person who has a lead sent. */
export interface LeadClaim {
  /**
   * `claimed`: by this caller, until the claim ends. `busy`: another process sends it now. `done`: the target took it. `none`: it
   * waits for no such target. `several`: it waits for several, and which of them is meant is not known.
   */
  readonly state: 'claimed' | 'busy' | 'done' | 'none' | 'several';
  readonly claim: number;
  readonly tries: number;
  /** The target of the claim, as it is stored, and its label. */
  readonly stored?: string | undefined;
  readonly label?: string | undefined;
}

export interface Forward {
  readonly target: string;
  readonly state: ForwardState;
  readonly tries: number;
  readonly dueAt: number | undefined;
  /** A receiver holds the claim on it: an attempt is under way, or was when that receiver was killed. */
  readonly isClaimed: boolean;
}

export interface TargetCount {
  /** A label that holds no credentials, such as `forward http://localhost:3000`. Several targets may share it. */
  readonly target: string;
  readonly waiting: number;
  readonly dead: number;
  /** The oldest of `waiting` came then, in milliseconds since the epoch; infinite where it is 0. */
  readonly oldestAt: number;
  /** The inbox was opened with this target; false for a target of another run. */
  readonly isOwn: boolean;
}

/** How many repeats of a lead are no longer stored, by whether their values differed from the first payload: the newest are kept. */
export interface DroppedRepeats {
  readonly differing: number;
  readonly same: number;
}

/** Selects leads. Default: all. */
export interface StoredLeadQuery extends Pick<InboxQuery, 'since' | 'until'> {
  readonly state?: 'waiting' | 'dead' | undefined;
}

export interface InboxReader extends ReceivedLeads, InboxChanges {
  readonly location: string;
  /** Reads deliveries, newest first. */
  list(query: InboxQuery): AsyncIterable<StoredDelivery>;
  /** Reads what is counted of each delivery, newest first, in batches. */
  receipts(query: ReceiptQuery): AsyncIterable<readonly StoredReceipt[]>;
  /** Every lead once, in order of arrival; leads whose body was pruned are left out. */
  leads(query: StoredLeadQuery): AsyncIterable<StoredLead>;
  /** Finds those of the ids whose lead ever came, pruned, erased or not. */
  has(leadIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lists the leads, waiting or dead, that this target has not taken; without a target, a lead once for each that has not. */
  waiting(target?: string): AsyncIterable<StoredRef>;
  /** Counts for each target, also one of an earlier run, the leads it has not taken; small steps let deliveries go first. */
  targetCounts(): Promise<readonly TargetCount[]>;
  /** Reads the state of each of the leads at its targets, by their labels; a lead without targets is left out. */
  forwards(leadIds: readonly string[]): Promise<ReadonlyMap<string, readonly Forward[]>>;
  droppedRepeats(leadId: string): Promise<DroppedRepeats>;
  close(): Promise<void>;
}

/**
 * The durable record of deliveries. Everything may wait for a store on another machine, and what is asked for many
 * deliveries is asked in one batch. What a method wrote is durable when it resolves; batches of several callers may
 * share one transaction. A failure to store is a `CannotStoreError`, of the caller's whole batch and of no other one; the
 * next call may work again.
 */
export interface Inbox extends InboxReader {
  /** Labels of the receiver's targets that this inbox did not know, where it had leads already: they get new leads only. */
  readonly newTargets: readonly string[];
  /** Gives a verdict for each arrival, in order; all are stored in one transaction. */
  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]>;
  /** Keeps rejected deliveries and those that are no lead; only the last 1,000 of each stay, 16 KiB of body each. */
  reject(rejected: readonly RejectedDelivery[]): Promise<void>;
  /**
   * Claims leads that are due for the target: at most `limit`, and at least one if any is due. Among the earliest of them,
   * untried leads are claimed first, so that leads which the target refuses do not delay the others for long.
   */
  claim(target: string, limit: number, options?: ClaimOptions): Promise<readonly ClaimedLead[]>;
  /**
   * Claims leads for a person, even if they are dead or not due yet. Without a target, each lead is claimed at the only
   * `forward` target that has not taken it. Resolves to one answer for each id, in order.
   */
  claimLeads(leadIds: readonly string[], target?: string): Promise<readonly LeadClaim[]>;
  /** Ends claims, and keeps the results of their attempts. What was erased meanwhile stays so. */
  record(records: readonly AttemptRecord[]): Promise<void>;
  /**
   * Resolves to the milliseconds until the first lead can be claimed for the target; undefined if none waits for it. After the
   * clock was set back it is 0, so that a claim follows: its transaction stores by how much.
   */
  nextDueIn(target: string): Promise<number | undefined>;
  /** Gives up leads that have waited for the target so long: up to 500 at once. Resolves to their number. */
  giveUp(target: string, afterMs: number): Promise<number>;
  /**
   * Makes these leads due now where they wait or are dead, as if they had come now. Leads that several calls with one `dueAt`
   * (ms since the epoch) name are due at the same time, so that those of one request stay together. Resolves to their number.
   */
  makeDue(leadIds: readonly string[], dueAt?: number): Promise<number>;
  /**
   * Drops deliveries received before that time, and keeps the ids, and what waits for some target. Resolves to the number of
   * dropped deliveries.
   */
  prune(before: number): Promise<number>;
  /**
   * Erases leads and rejected deliveries for good: nothing of them stays in the store but a keyed digest of each id, so that
   * the same id is a duplicate for ever, of which nothing is stored. Rejected deliveries with one of the ids go as well,
   * what waits for some target is cancelled, and of a delivery with several leads the others stay. First
   * completes what an earlier erasure could not.
   */
  erase(erasure: Erasure): Promise<Erased>;
  /**
   * Gives the system back what pruned deliveries took. Nothing else goes on meanwhile. Resolves to why it could not be done
   * now; undefined when it was.
   */
  compact(): Promise<Problem | undefined>;
  /**
   * Resolves when the next delivery can be made durable: a small write was committed and synced, no permission is missing and,
   * if an earlier write found the store full, there is room again. Stores no delivery. Otherwise rejects with a `CannotStoreError`.
   */
  checkWritable(): Promise<void>;
}

export interface Erasure {
  readonly leadIds: readonly string[];
  readonly rejected: readonly number[];
}

export interface ErasedCounts {
  readonly leads: number;
  /** Deliveries of these leads that were taken in, repeats included. */
  readonly deliveries: number;
  readonly rejected: number;
  /** Leads that some target had not taken: it will not get them. */
  readonly waiting: number;
}

export interface Erased extends ErasedCounts {
  /** Why erased data may still be in the file of the store, which could not be overwritten; undefined when it was. */
  readonly remains: Problem | undefined;
  /** Places, in words, where it may still be and nothing here reaches it. */
  readonly outOfReach: readonly string[];
}

/** An erased lead leaves this, under a keyed digest of its id. */
export interface ErasedLead {
  readonly seq: number;
  readonly firstAt: number;
  /** Deliveries of the id before it was erased. */
  readonly attempts: number;
}
