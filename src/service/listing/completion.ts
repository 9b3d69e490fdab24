import { LeadsError } from '../../errors.ts';

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
  /** The user says so: `api.pagination none`. */
  | 'affirmed';

/** How a walk ended. There is no other way to end one. */
export type Completion = { readonly kind: 'complete'; readonly evidence: Evidence } | Unproven;

/** Leads may be missing. */
export interface Unproven {
  readonly kind: 'unproven';
  /** What was seen, as a sentence without a full stop. */
  readonly why: string;
  readonly hint: string;
}

/** Where to say how a service pages. */
export const howToSet = "say how the service pages: 'leads config set api.pagination …' and 'api.params.…'";

export const complete = (evidence: Evidence): Completion => ({ kind: 'complete', evidence });
export const unproven = (why: string, hint: string = howToSet): Unproven => ({ kind: 'unproven', why, hint });

/** A walk came to an end that proves nothing: trying again does not help. */
export class IncompleteError extends LeadsError {
  readonly code = 'incomplete';
  /** @internal */
  readonly exitCode = 6;
  /** What was seen, as a sentence without a full stop. */
  readonly why: string;

  /** `what` may be missing; of pages there is no flag that takes what there is. @internal */
  constructor({ why, hint }: Unproven, what: 'leads' | 'pages' = 'leads') {
    super(`${what} may be missing: ${why}`, {
      hint: what === 'leads' ? `${hint}; or take what there is with --accept-incomplete` : hint,
    });
    this.why = why;
  }
}
