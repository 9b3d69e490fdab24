import { LeadsError } from '../../errors.ts';
import type { UnprovenReason } from '../problems.ts';

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
  readonly reason: UnprovenReason;
  /** What was seen, as a sentence without a full stop. */
  readonly why: string;
  readonly hint: string;
}

/** Where to say how a service pages. */
export const howToSet = "say how the service pages: 'leads config set api.pagination …' and 'api.params.…'";

const whys: {
  readonly [K in UnprovenReason['kind']]: (found: Extract<UnprovenReason, { readonly kind: K }>) => string;
} = {
  'nothing-new': () => 'a page brought no new lead: the service gave one again that it had given before',
  'rejected-behind': ({ message }) =>
    `the service rejected the page behind the last one that was read: ${message}`,
  'more-without-leads': () => 'the service says that there is more, and sends no further lead',
  'more-without-position': () => 'the service says that there is more, and its answer does not lead there',
  'more-without-parameter': () => 'the service says that there is more, and no parameter leads there',
  'empty-page': ({ page, pages }) => `page ${page} of ${pages} is empty`,
  'more-than-one-page': () => 'the service says that there is more, and api.pagination is none',
  'total-beyond-one-page': ({ total, count }) =>
    `the service counts ${total} leads and gave ${count}, and api.pagination is none`,
  'total-out-of-reach': ({ total, met }) =>
    `the service has ${total} leads, and its answers show no way past the first ${met}`,
  'page-may-be-cut': ({ count }) =>
    `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
  'total-not-met': ({ total, met }) => `the service counts ${total} leads and gave ${met}`,
  'total-vanished': () => 'the service counted leads at first, and none in the end',
  'position-filters': ({ param }) =>
    `the service lists no lead where '${param}' is sent, not even the first ones`,
  'list-kept-moving': () => 'leads kept moving between the pages while the list was read',
};

/** Feathers pages by `$skip`, answers with `skip`, and looks for leads with a field `skip` where that is sent. */
function filterHint(param: string): string {
  const names =
    param === 'skip'
      ? "leads config set api.params.offset '$skip', and leads config set api.params.limit '$limit'"
      : "'leads config set api.params.page …' or 'api.params.offset …'";
  return `it may take that for a filter; name the parameter that it pages by: ${names}`;
}

function hintFor(reason: UnprovenReason): string {
  if (reason.kind === 'position-filters') return filterHint(reason.param);
  if (reason.kind === 'list-kept-moving')
    return 'run it again when fewer leads change, or with a larger --page-size';
  return reason.kind === 'page-may-be-cut' ? affirm : howToSet;
}

const affirm =
  "say how the service pages ('leads config set api.pagination …', 'api.params.…'), or that it does not: 'leads config set api.pagination none'";

export const unprovenBy = (reason: UnprovenReason): Unproven => ({
  kind: 'unproven',
  reason,
  why: whys[reason.kind](reason as never),
  hint: hintFor(reason),
});

/** A walk came to an end that proves nothing: trying again does not help. */
export class IncompleteError extends LeadsError {
  readonly code = 'incomplete';
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
