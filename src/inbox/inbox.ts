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
  readonly place?: Span | undefined;
  /** The nonce of the delivery is good for this body only. */
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
  readonly claim: number;
  /** The how many-th attempt this is, from 1. */
  readonly tries: number;
  /** When the lead came, or a person made it due; milliseconds since the epoch. */
  readonly since: number;
}

interface ClaimOptions {
  readonly isWhole?: boolean | undefined;
  /** The latest that was never tried is claimed, to find out whether a target is back: it may fail at the earliest alone. */
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
  readonly isOwn: boolean;
}

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
  list(query: InboxQuery): AsyncIterable<StoredDelivery>;
  /** Reads what is counted of each delivery, newest first, in batches. */
  receipts(query: ReceiptQuery): AsyncIterable<readonly StoredReceipt[]>;
  /** Every lead once, in order of arrival; leads whose body was pruned are left out. */
  leads(query: StoredLeadQuery): AsyncIterable<StoredLead>;
  /** Finds those of the ids whose lead ever came, pruned, erased or not. */
  has(leadIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lists the leads that this target has not taken, dead or not; left out: any target, and a lead once for each. */
  waiting(target?: string): AsyncIterable<StoredRef>;
  /** Counts the leads that targets have not taken, those of earlier runs included, in small steps: no delivery waits for it. */
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
  /** Gives a verdict for each arrival, in order; all are stored in one transaction. */
  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]>;
  /** Keeps rejected deliveries and those that are no lead; only the last 1,000 of each stay, 16 KiB of body each. */
  reject(rejected: readonly RejectedDelivery[]): Promise<void>;
  /**
   * Claims leads that the target is due to be tried for: at least one where there is one, at most `limit`. Of the earliest those
   * come first that were never tried, so that leads which the target does not take hold no other for long.
   */
  claim(target: string, limit: number, options?: ClaimOptions): Promise<readonly ClaimedLead[]>;
  /**
   * Claims leads for a person, due or not, dead or not: at the target, or, where none is named, at the one forward that each
   * of them waits for. One answer for each, in order.
   */
  claimLeads(leadIds: readonly string[], target?: string): Promise<readonly LeadClaim[]>;
  /** Ends claims, and keeps the results of their attempts. What was erased meanwhile stays so. */
  record(records: readonly AttemptRecord[]): Promise<void>;
  /**
   * From now to when the first lead can be claimed for the target, in milliseconds; undefined where none ever can. It is 0 after
   * the clock was set back, so that the next claim notes that.
   */
  nextDueIn(target: string): Promise<number | undefined>;
  /** Gives up leads that have waited for the target so long: up to 500 at once. Resolves to their number. */
  giveUp(target: string, afterMs: number): Promise<number>;
  /**
   * Makes these leads due now where they wait or are dead, as if they had come now. Leads that several calls with one `dueAt`
   * (ms since the epoch) name are due at the same time, so that those of one request stay together. Resolves to their number.
   */
  makeDue(leadIds: readonly string[], dueAt?: number): Promise<number>;
  /** Labels of the receiver's targets that this inbox did not know, where it had leads already: they get new leads only. */
  readonly newTargets: readonly string[];
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
   * Resolves when the next delivery can be made durable: something was written, synced, nothing is forbidden and, after a write
   * failed for want of room, there is room again. Stores nothing. Rejects with a `CannotStoreError` that says why not.
   */
  checkWritable(): Promise<void>;
  /** Left out by a store that has no connections. */
  pool?(): ConnectionPool;
}

export interface ConnectionPool {
  readonly open: number;
  readonly busy: number;
  readonly waiting: number;
  readonly errors: number;
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
