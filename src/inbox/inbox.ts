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
  readonly source?: Source | undefined;
  /** The lead goes to these targets of the receiver (default: all), and a new one is claimed at once for `claimed` (default: none). */
  readonly targets?: readonly string[] | undefined;
  readonly claimed?: readonly string[] | undefined;
}

/** A delivery that brings no lead into the inbox, since it was rejected or has none. `leadId`: where the body could be read that far. */
export interface RejectedDelivery {
  readonly delivery: Delivery;
  readonly rejection: Rejection | OtherDelivery;
  readonly leadId?: string | undefined;
}

/**
 * `attempt` counts the deliveries of the lead, from 1, and `firstAt` is when the first one was received. `differs` has the dotted names
 * of fields whose values are not those of the first payload, or `*` where they were not compared; undefined: none differs.
 */
export type TakenVerdict = {
  readonly kind: 'accepted' | 'duplicate';
  readonly leadId: string;
  readonly attempt: number;
  readonly firstAt: number;
  readonly differs?: readonly string[] | undefined;
  readonly isErased?: true;
};

/** The verdict on an arrival, and the number under which it is stored. One that is rejected as a replay is stored as well. */
export type TakeResult = Rejection | (TakenVerdict & StoredRef);

export type ForwardState = 'waiting' | 'done' | 'dead';

/**
 * A lead that this receiver may send to a target now: no other one does until the claim ends. `request` is the number of the first lead
 * that came in the same request; `claim` counts the claims on this lead at this target, so that the end of an expired claim cannot end
 * a later one; `tries` counts its attempts, with this one. `since` is when the lead came, or a person made it due, in milliseconds
 * since the epoch.
 */
export interface ClaimedLead extends StoredRef {
  readonly request: number;
  readonly claim: number;
  readonly tries: number;
  readonly since: number;
}

interface ClaimOptions {
  /** The leads that came in one request are claimed together, even if these are more than `limit`. */
  readonly isWhole?: boolean | undefined;
  /** Claims the latest untried lead, to find out whether the target is back: it may refuse the earliest and take all others. */
  readonly isProbe?: boolean | undefined;
}

/**
 * The end of a claim. `untried`: nothing was sent, and the lead is due as before. An outcome other than `done` changes nothing where the
 * lead has been claimed again since this claim, or made due by a person. `insteadOf` is the stored name of the target for which the lead
 * waited, where `target` took it instead.
 */
export interface AttemptRecord extends StoredRef {
  readonly target: string;
  readonly claim: number;
  readonly outcome: 'done' | 'dead' | 'untried' | { readonly retryInMs: number };
  readonly result?: AttemptResult | undefined;
  readonly insteadOf?: string | undefined;
}

/**
 * The answer to a person who has a lead sent. `claimed`: by this caller, at the target with the stored name `stored`. `busy`: another
 * process sends it now. `done`: the target took it. `none`: it waits for no such target. `several`: it waits for several targets,
 * and the person named none of them.
 */
export interface LeadClaim {
  readonly state: 'claimed' | 'busy' | 'done' | 'none' | 'several';
  readonly claim: number;
  readonly tries: number;
  readonly stored?: string | undefined;
  readonly label?: string | undefined;
}

/**
 * How far a lead is at a target, which is named by its label. `dueAt`, in milliseconds since the epoch, is undefined unless it waits.
 * `isClaimed`: an attempt is under way, or was when its receiver was killed.
 */
export interface Forward {
  readonly target: string;
  readonly state: ForwardState;
  readonly tries: number;
  readonly dueAt: number | undefined;
  readonly isClaimed: boolean;
}

/**
 * The leads that a target has not taken. `target` is its label, such as `forward http://localhost:3000`, which several targets may
 * share. `oldestAt` is when the oldest waiting lead came, in milliseconds since the epoch; infinite where none waits. `isOwn`: the inbox
 * was opened with this target, and not an earlier run's.
 */
export interface TargetCount {
  readonly target: string;
  readonly waiting: number;
  readonly dead: number;
  readonly oldestAt: number;
  readonly isOwn: boolean;
}

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

/** `rejected`: the numbers of rejected deliveries. */
export interface Erasure {
  readonly leadIds: readonly string[];
  readonly rejected: readonly number[];
}

/** `deliveries` of these leads were taken in, repeats included. `waiting` leads had not been taken by some target, which misses them. */
export interface ErasedCounts {
  readonly leads: number;
  readonly deliveries: number;
  readonly rejected: number;
  readonly waiting: number;
}

/**
 * `remains`: why erased data may still be in the store, which could not be overwritten; undefined when it was. `outOfReach` names other
 * places, for people, where it may be.
 */
export interface Erased extends ErasedCounts {
  readonly remains: Problem | undefined;
  readonly outOfReach: readonly string[];
}

/** An erased lead leaves this, under a keyed digest of its id. `attempts`: its deliveries before it was erased. */
export interface ErasedLead {
  readonly seq: number;
  readonly firstAt: number;
  readonly attempts: number;
}
