import type { Delivery } from '../webhook/delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';

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

/** One stored delivery. */
export interface Entry {
  readonly leadId: string;
  /** Its place in the inbox, growing. */
  readonly seq: number;
}

/** What the inbox made of an arrival. Durable when the caller has it. */
export type TakeResult =
  | (Known & { readonly kind: 'accepted' })
  | (Known & {
      readonly kind: 'pending';
      /** What is still to be done for this lead, and claimed for the caller. */
      readonly targets: readonly string[];
      /** True while another receiver on the same inbox is at it: nothing is claimed then. */
      readonly busy: boolean;
    })
  | (Known & { readonly kind: 'duplicate' })
  | Rejection;

interface Known extends Entry {
  /** Which delivery of this id it is, from 1. */
  readonly attempt: number;
  /** When the id first came, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Dotted names of fields whose values are not those of the first payload; `*` when that one was pruned. */
  readonly differs?: readonly string[] | undefined;
}

export type VerdictKind = 'accepted' | 'duplicate' | 'pending' | 'rejected';

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
}

/** A lead in the inbox, in the webhook's own bytes. */
export interface StoredLead {
  readonly leadId: string;
  readonly seq: number;
  readonly receivedAt: number;
  readonly source: Source;
  readonly body: Uint8Array;
}

/** All of them must hold. Times are milliseconds since the epoch, half-open: since <= receivedAt < until. */
export interface InboxQuery {
  readonly verdicts?: readonly VerdictKind[] | undefined;
  readonly leadId?: string | undefined;
  readonly seq?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** The durable record of deliveries. Failures to store are `CannotStoreError`s; the next call may work again. */
export interface Inbox {
  /** The file, or `:memory:`. */
  readonly place: string;
  /** One verdict for each arrival, in order. Durable when it resolves; what arrives meanwhile forms the next batch. */
  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]>;
  /** Keeps a refused delivery; only the last 1,000 stay, 16 KiB of body each. */
  reject(delivery: Delivery, rejection: Rejection, leadId?: string): Promise<void>;
  /**
   * A target has had the lead. Tells what this delivery of it is now: `pending` while something is left to do, then
   * `accepted` for the first and `duplicate` for any other. Durable when it resolves.
   */
  settle(entry: Entry, target: string): Promise<Exclude<VerdictKind, 'rejected'>>;
  /** The target did not take it: any receiver may try again at once. */
  release(entry: Entry, target: string): Promise<void>;
  /** Leads that this target has not had. */
  unsettled(target: string): Promise<readonly Entry[]>;
  /** Newest first. */
  list(query: InboxQuery): AsyncIterable<StoredDelivery>;
  /** Every accepted lead once, in order of arrival; leads whose body was pruned are left out. */
  leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncIterable<StoredLead>;
  /** Whether this lead was ever accepted, pruned or not. */
  has(leadId: string): Promise<boolean>;
  /** Drops deliveries received before that time, and keeps the ids. Returns how many went. */
  prune(before: number): Promise<number>;
  close(): Promise<void>;
}
