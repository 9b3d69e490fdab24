import type { LeadsError, Problem } from '../errors.ts';
import type { Front, Hint } from '../front.ts';
import { howToSet } from './errors.ts';

/** The reason why a walk came to an end which proves nothing. */
export interface UnprovenReason extends Problem {
  readonly message: string;
}

const oneAnswerIsAll = (front: Front): string =>
  `one answer is everything: ${front.quoted(front.set('api.pagination', 'none'))}`;

/** The hint where the number of leads in one answer decides whether it is everything. */
const howToProve = (front: Front): string => `${howToSet(front)}; if ${oneAnswerIsAll(front)}`;

const howToEstimate = (front: Front): string =>
  `${howToSet(front)}; or, if it counts more than it lists: ${front.quoted(front.set('api.total', 'estimate'))}`;

const howToExplain = (front: Front): string =>
  `${howToSet(front)}; if it means something else and ${oneAnswerIsAll(front)}`;

const reason = (kind: string, message: string, hint: Hint = howToSet): UnprovenReason => ({
  kind,
  message,
  hint,
});

/** A page brought leads that were known, and none that were not. */
export const nothingNew = reason(
  'nothing-new',
  'a page brought no new lead: the service gave one again that it had given before',
);

/** A walk that went on where an earlier one had stopped got no lead: its position may not be known any more. */
export const nothingBehindStop = reason(
  'nothing-behind-stop',
  'nothing came where an earlier run had stopped',
);

export const rejectedBehindLast = ({ message }: Pick<LeadsError, 'message'>): UnprovenReason =>
  reason('rejected-behind', `the service rejected the page behind the last one that was read: ${message}`);

/** The first answer holds no list, not even an empty one. */
export const noList = reason(
  'no-list',
  'the answer holds no list of leads, not even an empty one',
  (front) =>
    `is the path right? See ${front.quoted(front.set('api.path', '/…'))} and ${front.quoted(front.set('api.items', '/…'))}`,
);

export const moreWithoutLeads = reason(
  'more-without-leads',
  'the service says that there is more, and sends no further lead',
);

export const moreWithoutPosition = reason(
  'more-without-position',
  'the service says that there is more, and its answer does not lead there',
);

export const moreWithoutParameter = reason(
  'more-without-parameter',
  'the service says that there is more, and no parameter leads there',
);

export const emptyPage = (page: number, pages: number): UnprovenReason =>
  reason('empty-page', `page ${page} of ${pages} is empty`);

export const moreThanOnePage = reason(
  'more-than-one-page',
  'the service says that there is more, and api.pagination is none',
);

export const totalBeyondOnePage = (total: number, count: number): UnprovenReason =>
  reason(
    'total-beyond-one-page',
    `the service counts ${total} leads and gave ${count}, and api.pagination is none`,
    howToEstimate,
  );

/** No position leads further, and the total is larger than the number of leads that were met. */
export const totalOutOfReach = (total: number, met: number): UnprovenReason =>
  reason(
    'total-out-of-reach',
    `the service has ${total} leads, and its answers show no way past the first ${met}`,
    howToEstimate,
  );

/** No position leads further, and the page is as long as one that may have been cut. */
export const pageMayBeCut = (count: number): UnprovenReason =>
  reason(
    'page-may-be-cut',
    `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
    howToProve,
  );

/** The run before had so many leads that are asked for again, and none of them came. */
export const runBeforeNotMet = (overlap: number): UnprovenReason =>
  reason(
    'run-before-not-met',
    overlap === 1
      ? 'the newest lead of the run before did not come again'
      : `none of the ${overlap} newest leads of the run before came again`,
    'leads between both runs may be out of reach, unless those were deleted',
  );

/** The list was read from its start, and so many leads of an interrupted run did not come again. */
export const interruptedRunNotMet = (leads: number): UnprovenReason =>
  reason(
    'interrupted-run-not-met',
    `the list is another one or empty: ${leads === 1 ? 'the lead' : `none of the ${leads} leads`} that came before the interruption ${leads === 1 ? 'did not come' : 'came'} again`,
    'leads may be missing, unless those were deleted',
  );

export const totalNotMet = (total: number, met: number): UnprovenReason =>
  reason('total-not-met', `the service counts ${total} leads and gave ${met}`, howToEstimate);

/** Leads are asked for by time. */
export const windowApart = (param: string): UnprovenReason =>
  reason(
    'window-apart',
    `an answer to '${param}' does not begin with the lead that the one before it ended with`,
  );

/** All leads of a full answer have one time, or they are in another order. */
export const windowOfOneTime = (param: string): UnprovenReason =>
  reason(
    'window-of-one-time',
    `the leads of a full answer to '${param}' do not become older, so that no time leads past them`,
  );

export const totalVanished = reason(
  'total-vanished',
  'the service counted leads at first, and none in the end',
);

/** An answer tells a failure, beside leads or in their place. */
export const failedAnswerReason = (text: string): UnprovenReason =>
  reason('failed-answer', `the service answered with a failure: ${text}`, 'try again later');

/** `sign`: the member by which an answer says itself that it is not all. */
export const partialAnswerReason = (sign: string): UnprovenReason =>
  reason(
    'partial-answer',
    `the service says itself that an answer is not all ('${sign}')`,
    'try again later',
  );

export const rangeDoesNotFit = (range: string | undefined, count: number): UnprovenReason =>
  reason(
    'range-does-not-fit',
    range === undefined
      ? 'the service answered with a part of the list (206) and does not say which'
      : `the service answered with the part '${range}', and ${count} leads came`,
  );

export const unreadMember = (name: string): UnprovenReason =>
  reason('unread-member', `the answer's '${name}' may lead to more leads`, howToExplain);

export const unreadHeader = (name: string): UnprovenReason =>
  reason('unread-header', `the answer's header '${name}' may lead to more leads`, howToExplain);

export const redirectDrops = (param: string): UnprovenReason =>
  reason(
    'redirect-drops',
    `the service redirects the list, and drops the parameter '${param}' on the way`,
    (front) => `name the place it redirects to: ${front.quoted(front.set('api.path', '/…'))}`,
  );

export const settingWithoutEffect = (setting: 'api.next' | 'api.pagination'): UnprovenReason =>
  reason(
    'setting-without-effect',
    `${setting} says where the next page is named, and no answer names one there`,
    (front) => {
      const isRight = `if it is right: ${front.quoted(front.set('api.next-seen', 'true'))}`;
      return `${isRight}; if the service may page in another way: ${front.quoted(front.set(setting, 'auto'))}`;
    },
  );

export const endlessEmptyPages = (pages: number): UnprovenReason =>
  reason('endless-empty-pages', `the service sends one empty page after another (${pages} in a row)`);

/** `fruitful`: the number of requests whose answers brought a new lead. */
export const tooManyRequests = (requests: number, fruitful: number): UnprovenReason =>
  reason(
    'too-many-requests',
    `${fruitful} of ${requests} requests brought new leads: the walk comes to no end`,
  );

export const listKeptMoving = reason(
  'list-kept-moving',
  'leads kept moving between the pages while the list was read',
  (front) => `run it again when fewer leads change, or with a larger ${front.option('page-size')}`,
);
