import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { Complete, Unproven } from './pagers/pager.ts';
import type { Position } from './pagers/position.ts';
import { DataError, KeyRejectedError, LeadsError, ServiceError, type Problem } from '../errors.ts';
import type { Service } from './client/service.ts';
import { hintFor } from '../front.ts';

/**
 * How a walk ended that did not throw. A walk reads a service's list page by page. It is complete when some evidence shows that
 * every lead was read, and unproven when leads may be missing.
 */
export type Completion = Complete | Unproven;

/**
 * The leads of a page that were not met before in this walk and are not in `seen`, in the service's order; `leadMatcher` is still to
 * be applied. A large page comes in several batches. `next`: the place of the next page, on the final batch of a page only, once the
 * service has shown how it pages. `last`: the walk has ended.
 */
export interface Batch {
  readonly leads: readonly RawLead[];
  readonly next: Position | undefined;
  readonly last: boolean;
}

export interface RequestCounters {
  requests: number;
  retries: number;
  /** By how much the service's clock is ahead, ms, as its first answer says it in `Date`. */
  drift?: number | undefined;
}

/**
 * `duplicates`: records that the service sent a second time, and that were dropped. `withoutId`: records without a usable id; they
 * are given, and not compared with others. `total`: the number of all leads, as the last answer that told it says.
 */
export interface ListingStats extends RequestCounters {
  pages: number;
  leads: number;
  duplicates: number;
  withoutId: number;
  total: number | undefined;
}

/** The ids that interrupted runs of a walk have met. `isPart`: these also met records without an id, which `size` does not count. */
interface InterruptedRun {
  readonly size: number;
  readonly has: (id: string) => boolean;
  readonly isPart?: boolean;
}

export interface ListingOptions {
  readonly query: LeadQuery;
  /** Records asked for per page; otherwise the dialect's `pageSize`, or as many as the service gives, up to 1000. */
  readonly pageSize?: number | undefined;
  /** A page size that is only a wish: another one is tried where the service rejects it. */
  readonly preferredSize?: number | undefined;
  /**
   * The position at which the walk begins: a `next` of an earlier walk with the same query and page size. Page and offset walks
   * first reread the record before it, and go farther back while that record is not there. `seen` must hold the ids that
   * were given before, so that these are not given again.
   */
  readonly from?: Position | undefined;
  /** Ids that are not given again; filled with every id that the walk meets. A fresh one by default. */
  readonly seen?: IdSet | undefined;
  /** Leads that interrupted runs of this walk have met: where the list is read from its start, one of these must come again. */
  readonly interruptedRun?: InterruptedRun | undefined;
  /** An earlier walk has read this list, so an answer without an array of leads means an empty list, not a wrong path. */
  readonly isKnownList?: boolean | undefined;
  /** Requests in flight at once where positions can be computed (page, offset); batches keep their order. */
  readonly concurrency?: number | undefined;
  /** Ids of leads that the run before had and that this one asks for again: at least one of them must come. The oldest first. */
  readonly expectedIds?: readonly string[] | undefined;
  /** When a walk from `from` proves nothing, the caller rereads the list from its start; it can if every record so far had an id. */
  readonly goesBackToStart?: boolean | undefined;
  /** A record that is no JSON is given as an `InvalidRecord`; without it, it ends the walk. */
  readonly keepsInvalid?: boolean | undefined;
  /** Takes a walk that proves nothing for an ordinary end, and is given what was seen. */
  readonly acceptUnproven?: ((end: Unproven) => void | Promise<void>) | undefined;
  /** No page is requested a second time, so a list that moves during the walk goes unnoticed. */
  readonly readsOnce?: boolean | undefined;
  /** Asks for the next page while the current one is being used. Not for a reader that may stop early. */
  readonly prefetch?: boolean | undefined;
}

/**
 * Iterating ends normally only when the walk was complete; it throws an `IncompleteError` otherwise. `completion` is the evidence,
 * once the last batch was taken; undefined where the reader stopped before.
 */
export interface Listing extends AsyncIterable<Batch> {
  readonly stats: Readonly<ListingStats>;
  readonly completion: Completion | undefined;
}

/**
 * The filters that the service is asked for; `leadMatcher` checks them again, except for the status. Leads of any of the `categories`
 * are wanted, but only a single one is sent. `since` (inclusive) and `until` (exclusive) are in ms since the epoch; where the dialect
 * knows how, they are sent a day wider.
 */
export interface LeadQuery {
  readonly status?: string | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A walk came to an end that proves nothing: trying again does not help. */
export class IncompleteError extends LeadsError {
  override readonly name = 'IncompleteError';
  readonly code = 'incomplete';
  /** The reason, as a sentence without a full stop. */
  readonly why: string;
  readonly #reason: Problem;

  /** `items` names what may be missing; no option accepts missing pages. Every lead `since` that time was read. @internal */
  constructor({ reason }: Unproven, items: 'leads' | 'pages' = 'leads', since?: string) {
    super(`${items} may be missing: ${reason.message}`, {
      hint(front) {
        const hint = hintFor(reason.hint, front) ?? '';
        if (items === 'pages') return hint;
        const narrower =
          since === undefined ? '' : `; or ask for no older leads than came: ${front.option('since', since)}`;
        return `${hint}${narrower}; or take what there is with ${front.option('accept-incomplete')}`;
      },
    });
    this.#reason = reason;
    this.why = reason.message;
  }

  /** @internal */
  get reason(): Problem {
    return this.#reason;
  }
}

/** `created` is in milliseconds since the epoch. */
export type KnownLead = readonly [id: string, created: number];

/** The ids of the leads of an earlier run that a query asks for again, the oldest first. */
export const expectedAgain = (
  leads: Iterable<KnownLead>,
  { since = -Infinity, until = Infinity }: Pick<LeadQuery, 'since' | 'until'>,
): string[] =>
  [...leads]
    .filter(([, created]) => created >= since && created < until)
    .toSorted(([, a], [, b]) => a - b)
    .map(([id]) => id);

/**
 * Whether a walk that failed where an earlier one had stopped may succeed from the start of the list: its position has expired or was
 * never one, or what proves the list complete is before it. `unanswered`: the service, where it has answered no request of this walk;
 * then a position that it does not know may also show as an answer that is no page, a refused key, or a failure.
 */
export function mayHelpFromStart(error: unknown, unanswered?: Pick<Service, 'rateGate'>): boolean {
  if (error instanceof IncompleteError) return true;
  // A service that asks to wait is asked for no other page meanwhile.
  if (unanswered !== undefined && unanswered.rateGate.waitMs <= 0) {
    const isFailure = error instanceof ServiceError && (error.status === 500 || error.status === 501);
    return isFailure || error instanceof DataError || error instanceof KeyRejectedError;
  }
  return error instanceof DataError && (error.status !== undefined || error.kind === 'position-read-before');
}
