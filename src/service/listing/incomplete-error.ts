import { LeadsError } from '../../errors.ts';
import type { ServiceProblem, UnprovenReason } from '../problems.ts';

/** Why a walk may be called complete. */
export type Evidence =
  /** `next: null`, `has_more: false`, no `rel=next` where one was before. */
  | 'explicit-end'
  /** The total was reached by a page that was not full. */
  | 'total'
  /** A request behind the last record, by a position that the service honours, found nothing. */
  | 'nothing-behind'
  /** The list is empty. */
  | 'empty'
  /** The service ignores or rejects every position, and `limit=1` too: its answer is everything. */
  | 'not-paged'
  /** One page, which holds all that was asked for: too few leads to be cut, or older ones than any that were asked for. */
  | 'few'
  | 'reaches-back'
  /** One page of a number at which services rarely cut; nothing proves that it is everything, and that is said. */
  | 'lone-page'
  /** The user says so: `api.pagination none`. */
  | 'affirmed';

/** How a walk ended. There is no other way to end one. */
export type Completion =
  | {
      readonly kind: 'complete';
      readonly evidence: Evidence;
      /** Of a list that does not page: its one answer was shown to be everything, up to so many leads. */
      readonly provenUpTo?: number | undefined;
    }
  | Unproven;

/** Leads may be missing. */
export interface Unproven {
  readonly kind: 'unproven';
  readonly reason: UnprovenReason;
}

/** A walk came to an end that proves nothing: trying again does not help. */
export class IncompleteError extends LeadsError {
  /** @internal */
  static override readonly brand: string = 'IncompleteError';

  readonly code = 'incomplete';
  /** What was seen, as a sentence without a full stop. */
  readonly why: string;
  readonly #reason: UnprovenReason;

  /** `what` may be missing; of pages there is no flag that takes what there is. Leads since then surely came. @internal */
  constructor({ reason }: Unproven, what: 'leads' | 'pages' = 'leads', since?: string) {
    const problem: ServiceProblem = { kind: 'incomplete', what, reason, since };
    super(problem);
    this.#reason = reason;
    // A library's entry, which hands the error out, puts the sentence here.
    this.why = reason.kind;
  }

  /** @internal */
  get reason(): UnprovenReason {
    return this.#reason;
  }
}
