import { OutputError } from '../errors.ts';
import type { Span } from '../json/members.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherDelivery, Rejection } from '../webhook/delivery-answer.ts';
import type { TakenKind, Verdict } from './decide-verdict.ts';
import type { InboxProblem, NotOverwritten, OutOfReach, StoreFault } from './problems.ts';
import type {
  HandedResult,
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

export type {
  HandedKind,
  HandedResult,
  InboxQuery,
  Source,
  StoredDelivery,
  StoredLead,
  StoredRef,
  StoredResult,
} from './query-types.ts';

/** A lead of a delivery that authenticated, on its way into the inbox. */
export interface Arrival {
  /** The same object for several leads of one delivery, which follow each other. */
  readonly delivery: Delivery;
  readonly leadId: string;
  /** The lead's own bytes in the body; undefined when the body is the lead. */
  readonly place?: Span | undefined;
  /** Of the delivery; good for this body only. */
  readonly nonce?: string | undefined;
  /** When the lead was created, in milliseconds since the epoch; left out where that cannot be read. */
  readonly createdAt?: number | undefined;
  /** Default `push`. */
  readonly source?: Source | undefined;
  /** Those of the receiver's targets that the lead goes to. Default: all of them. */
  readonly targets?: readonly string[] | undefined;
  /** The sender is answered 200 whatever the targets do. Default false. */
  readonly isAcknowledged?: boolean | undefined;
}

/** A delivery that is not taken in, and why: it was rejected, or is genuine and no lead. */
export interface RejectedDelivery {
  readonly delivery: Delivery;
  readonly rejection: Rejection | OtherDelivery;
  /** Where the body could be read that far. */
  readonly leadId?: string | undefined;
}

/** The verdict on an arrival, and the number it is stored under; a rejected one is stored as well. */
export type TakeResult = Rejection | (Exclude<Verdict, Rejection> & StoredRef);

/** One target that a stored delivery's lead is handed to. `take` leases it to one receiver at a time. */
export interface TargetLease extends StoredRef {
  readonly target: string;
  /** What came of it, to be kept with the delivery; a try is counted. */
  readonly result?: HandedResult | undefined;
  /** Of a release: when a receiver may try again by itself, in milliseconds since the epoch. Default: as before. */
  readonly retryAt?: number | undefined;
  /** To lease: it is only asked what would be answered. */
  readonly isQuestion?: true | undefined;
  /** Of a release: no receiver tries again by itself, until a person begins anew. */
  readonly dead?: true | undefined;
  /** Of a release: since when the lead was outstanding that is dead; one that was begun anew meanwhile is not. */
  readonly since?: number | undefined;
}

/** Whether a target may be handed a lead now: another receiver does it, it has had it, or nobody wanted it to. */
export type LeaseState = 'leased' | 'busy' | 'settled' | 'not outstanding';

/** What became of a lease that was asked for. */
export interface LeaseAnswer {
  readonly state: LeaseState;
  /** How often the target was tried, or may have been by a receiver that was killed; 0 where the lead is not outstanding for it. */
  readonly tries: number;
}

/** A lead that a target is to be tried for. Times are milliseconds since the epoch. */
export interface DueLead extends StoredRef {
  /** How often the target was tried. */
  readonly tries: number;
  /** When the lead became outstanding for the target, or a person began anew. */
  readonly since: number;
  readonly dueAt: number;
}

/** A target that has not had a lead. Times are milliseconds since the epoch. */
export interface LackingTarget {
  /** A label that holds no credentials, such as `forward http://localhost:3000`. */
  readonly target: string;
  readonly tries: number;
  /** When a receiver may try again by itself; undefined where none does. */
  readonly dueAt: number | undefined;
  /** It was given up. */
  readonly dead: boolean;
}

/** Leads that one target has not had. */
export interface Outstanding {
  /** A label that holds no credentials, such as `forward http://localhost:3000`. */
  readonly target: string;
  /** Without the dead ones. */
  readonly leads: number;
  /** Leads that were given up for this target. */
  readonly dead: number;
  /** Whether this receiver hands leads to it. */
  readonly wanted: boolean;
  /** Whether another receiver that runs now does. */
  readonly wantedElsewhere: boolean;
}

/** Repeats of one lead that are not kept any more. */
export interface DroppedRepeats {
  /** With another payload than the first one. */
  readonly differing: number;
  readonly same: number;
}

/** Where a lead stands now. */
export type LeadState = Exclude<TakenKind, 'duplicate'>;

/** Which leads are asked for, by where they stand now. Default: the accepted ones. */
export interface StoredLeadQuery extends Pick<InboxQuery, 'since' | 'until'> {
  readonly states?: readonly LeadState[] | undefined;
}

/** The part of an inbox that only reads. */
export type InboxReader = ReceivedLeads &
  InboxChanges &
  Pick<
    Inbox,
    | 'location'
    | 'list'
    | 'receipts'
    | 'leads'
    | 'has'
    | 'outstanding'
    | 'lackingTargets'
    | 'droppedRepeats'
    | 'close'
  >;

/**
 * The durable record of deliveries. Everything may wait for a store on another machine, and what is asked for many
 * deliveries is asked in one batch. What a method wrote is durable when it resolves; batches of several callers may
 * share one transaction. A failure to store is a `CannotStoreError`, of the caller's whole batch and of nobody else's; the
 * next call may work again.
 */
export interface Inbox extends ReceivedLeads, InboxMonitor, InboxChanges {
  /** Path of the file, `:memory:`, or the URL of the database as it is shown. */
  readonly location: string;
  /** One verdict for each arrival, in order; all are stored in one transaction. */
  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]>;
  /** Keeps rejected deliveries and those that are no lead; only the last 1,000 of each stay, 16 KiB of body each. */
  reject(rejected: readonly RejectedDelivery[]): Promise<void>;
  /**
   * The targets have had the leads. One result for each, in order: `pending` while a wanted target has not had the lead,
   * then `accepted` for the lead's first delivery and `duplicate` for any other.
   */
  settle(leases: readonly TargetLease[]): Promise<readonly TakenKind[]>;
  /** The targets did not take the leads: any receiver may try again. */
  release(leases: readonly TargetLease[]): Promise<void>;
  /**
   * The forwards have had the leads, at the address that the app has now. Where exactly one other forward is outstanding
   * for a lead, and no receiver that runs wants it, that one counts as done too: its address is not in use any more. One
   * result for each, in order: the label of that other forward, or undefined.
   */
  markDoneAtNewAddress(leases: readonly TargetLease[]): Promise<readonly (string | undefined)[]>;
  /** Leases what is outstanding for a target without a delivery, dead or not. One answer for each, in order. */
  lease(leases: readonly TargetLease[]): Promise<readonly LeaseAnswer[]>;
  /** Leads that this target has not had, dead or not; left out: any target, and a lead once for each. */
  unsettled(target?: string): AsyncIterable<StoredRef>;
  /**
   * Leads that the target is to be tried for by that time, earliest first, without those that are leased or dead. `leadIds`:
   * only these are asked about.
   */
  due(target: string, by: number, limit: number, leadIds?: readonly string[]): Promise<readonly DueLead[]>;
  /** When the first lead is due for the target, or its lease ends; undefined where none ever is. */
  nextDueAt(target: string): Promise<number | undefined>;
  /** What is outstanding of these leads, dead or not, is due now, as if it had come now. Resolves to the number of such leads. */
  beginAnew(leadIds: readonly string[]): Promise<number>;
  /** Targets that have not had some lead, those of earlier runs included. */
  outstanding(): Promise<readonly Outstanding[]>;
  /** Targets that have not had the lead, those of earlier runs included, by their labels. */
  lackingTargets(leadId: string): Promise<readonly LackingTarget[]>;
  /** Newest first. */
  list(query: InboxQuery): AsyncIterable<StoredDelivery>;
  /** What is counted of each delivery, newest first, in batches. */
  receipts(query: ReceiptQuery): AsyncIterable<readonly StoredReceipt[]>;
  /** Every lead once, in order of arrival; leads whose body was pruned are left out. */
  leads(query: StoredLeadQuery): AsyncIterable<StoredLead>;
  /** Repeats of the lead that are not kept: only the newest are. */
  droppedRepeats(leadId: string): Promise<DroppedRepeats>;
  /** Those of the ids whose lead was ever accepted, pruned, erased or not. */
  has(leadIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of the ids that ever came, pruned or not: whether the lead was `accepted`, as an erased one is, or is still `pending`. */
  states(leadIds: readonly string[]): Promise<ReadonlyMap<string, LeadState>>;
  /**
   * Drops deliveries received before that time, and keeps the ids, and what is outstanding for some target, unless it is
   * dead. Resolves to the number of dropped deliveries.
   */
  prune(before: number): Promise<number>;
  /**
   * Erases leads and rejected deliveries for good: nothing of them stays in the store but a keyed digest of each id, so that
   * the same id is a duplicate for ever, of which nothing is stored. Rejected deliveries with one of the ids go as well,
   * what is outstanding for some target is cancelled, and of a delivery with several leads the others stay. First
   * completes what an earlier erasure could not.
   */
  erase(erasure: Erasure): Promise<Erased>;
  /**
   * Gives the system back what pruned deliveries took. Nothing else goes on meanwhile. Resolves to why it could not be done
   * now; undefined when it was.
   */
  compact(): Promise<NotOverwritten | undefined>;
  close(): Promise<void>;
}

/** Leads that a target has not had, as an operator watches them; a lead counts once for each target that lacks it. */
export interface Backlog {
  /**
   * A label that holds no credentials, such as `forward http://localhost:3000`. Undefined: all targets together that this
   * receiver hands nothing to, whatever they are called.
   */
  readonly target: string | undefined;
  /** Without the dead ones. */
  readonly leads: number;
  /** Leads that were given up for the target. */
  readonly dead: number;
  /** When the first delivery of the oldest of `leads` came, in milliseconds since the epoch; infinite where there is none. */
  readonly oldestAt: number;
}

/** Sums up what is outstanding by its labels, in their order; those without one last. */
export function sumBacklog(parts: Iterable<Backlog>): Backlog[] {
  const found = new Map<string | undefined, Backlog>();
  for (const { target, leads, dead, oldestAt } of parts) {
    const before = found.get(target);
    found.set(target, {
      target,
      leads: leads + (before?.leads ?? 0),
      dead: dead + (before?.dead ?? 0),
      oldestAt: Math.min(oldestAt, before?.oldestAt ?? oldestAt),
    });
  }
  return [...found.values()].sort((a, b) =>
    b.target === undefined || (a.target !== undefined && a.target < b.target) ? -1 : 1,
  );
}

/** The connections of this process to a store on another machine. */
export interface ConnectionPool {
  /** Open connections, and how many of them run a statement. */
  readonly open: number;
  readonly busy: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
  /** Connections and statements that failed since the start. */
  readonly errors: number;
}

/** What an operator's monitoring asks of an inbox. */
export interface InboxMonitor {
  /**
   * Resolves when the next delivery can be made durable: something was written, synced and, after a write failed for want
   * of room, there is room again. Stores nothing. Rejects with a `CannotStoreError` that says why not.
   */
  checkWritable(): Promise<void>;
  /** What is outstanding, in the order of the labels, the targets without one last. Read in small steps, so that no delivery waits for it. */
  backlog(): Promise<readonly Backlog[]>;
  /** Left out by a store that has no connections. */
  pool?(): ConnectionPool;
}

/** What is to be erased. */
export interface Erasure {
  readonly leadIds: readonly string[];
  /** Numbers of rejected deliveries. */
  readonly rejected: readonly number[];
}

/** What was erased, counted. */
export interface ErasedCounts {
  /** Leads of which something was there. */
  readonly leads: number;
  /** Deliveries of these leads that were taken in, repeats included. */
  readonly deliveries: number;
  /** Rejected deliveries. */
  readonly rejected: number;
  /** Those of the leads that some target had not had: it will not get them. */
  readonly pending: number;
}

export interface Erased extends ErasedCounts {
  /** Why copies of what was erased are still in the store's own files; undefined when none are. */
  readonly remains: NotOverwritten | undefined;
  readonly outOfReach: readonly OutOfReach[];
}

/** What stays of a lead, under a keyed digest of its id. */
export interface ErasedLead {
  /** Number of its first delivery. */
  readonly seq: number;
  /** Of its first delivery, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Deliveries of the id before it was erased. */
  readonly attempts: number;
}

/** Finds what stays of a lead; undefined when it was not erased. */
export type FindErased = (leadId: string) => ErasedLead | undefined;

/** The inbox did not take a delivery: disk full, I/O error, locked too long. The sender is to try again. */
export class CannotStoreError extends OutputError {
  /** @internal */
  static override readonly brand: string = 'CannotStoreError';
}

/** `cause`: what the store itself threw. */
export const cannotStore = (inbox: string, fault: StoreFault, cause: unknown): CannotStoreError =>
  new CannotStoreError({ kind: 'inbox-cannot-store', inbox, fault } satisfies InboxProblem, { cause });
