import type { PaginationHints } from '../pagination/pagination-hints.ts';
import {
  countOfPosition,
  isTellingNumber,
  type Position,
  positionKey,
  recordBefore,
} from '../pagination/position.ts';
import { unreadEvidence } from '../pagination/unread-evidence.ts';
import type { EndNote, UnprovenReason } from '../problems.ts';
import type { Completion, Evidence } from './incomplete-error.ts';
import { isSettled, isUnchanged } from './passes.ts';
import { judgeLonePage } from './lone-page.ts';
import {
  type Answer,
  type Earlier,
  looksFull,
  type PageSeen,
  type ProbeReason,
  type ProbeResult,
  type WalkState,
} from './walk-state.ts';

/** Where a walk goes from what it has seen. */
export type Step = (
  | { readonly kind: 'page'; readonly position: Position }
  /** It has to be found out by requests of its own. */
  | { readonly kind: 'probe'; readonly reason: ProbeReason }
  /** Something moved that the pages did not show: the list is read again, or its front, where leads may have moved to. */
  | { readonly kind: 'reread'; readonly pass: 'again' | 'front' }
  | { readonly kind: 'end'; readonly completion: Completion }
) & { readonly note?: EndNote | undefined };

/** Empty pages of a numbered list in a row, each of which names a next one, before that is taken for its end. */
const mostEmptyPages = 3;
/** Empty pages may stand in the middle of a list that only the service can count, but not without end. */
const mostOpaqueEmptyPages = 1000;
/** Pages in a row that bring nothing new because leads arrive in front faster than pages are read. */
const mostIdlePages = 20;

/** The one decision of every walk: which request is next, or what its end proves. */
export function decideNextStep(seen: WalkState): Step {
  const step = nextStep(seen);
  if (step.kind === 'end') return step;
  if (seen.emptyPages > mostOpaqueEmptyPages)
    return unproven({ kind: 'endless-empty-pages', pages: seen.emptyPages });
  return isSpent(seen) ? endOfEffort(seen) : step;
}

function nextStep(seen: WalkState): Step {
  const step = seen.probed === undefined ? afterAnswer(seen) : afterProbes(seen, seen.probed);
  if (step.kind !== 'end') return step;
  for (const doubt of objectionsToEnd) {
    const doubted = doubt(seen, step.completion);
    if (doubted !== undefined) return isSameEnd(doubted, step) ? step : doubted;
  }
  return step;
}

/** What a step says of its end is said of that end only. */
const isSameEnd = (doubted: Step, { completion }: Extract<Step, { readonly kind: 'end' }>): boolean =>
  doubted.kind === 'end' && doubted.completion === completion;

/** What may follow one step: its page, the requests that check where it begins, steps back, and the probes behind it. */
const mostInOneStep = 8;

/** A walk that goes on makes at most three requests for each answer that brings a new lead, and fifty more. */
const isSpent = ({ effort: { requests, passedOver, fruitful } }: WalkState): boolean =>
  requests - passedOver + mostInOneStep > 3 * fruitful + 50;

/** Where leads keep arriving in front, those are left to a later walk. */
function endOfEffort(seen: WalkState): Step {
  const { movement, effort } = seen;
  const isComplete = movement?.isFrontReadAgain === true && !movement.needsAnotherPass;
  if (isComplete && contraryTotal(seen) === undefined) return complete('nothing-behind');
  return unproven({ kind: 'too-many-requests', requests: effort.requests, fruitful: effort.fruitful });
}

const request = (position: Position): Step => ({ kind: 'page', position });
const probe = (reason: ProbeReason): Step => ({ kind: 'probe', reason });
const reread = (pass: 'again' | 'front'): Step => ({ kind: 'reread', pass });
const ended = (completion: Completion, note?: EndNote): Step => ({ kind: 'end', completion, note });
const complete = (evidence: Evidence, note?: EndNote): Step => ended({ kind: 'complete', evidence }, note);
const unproven = (reason: UnprovenReason): Step => ended({ kind: 'unproven', reason });

const silent = probe({ kind: 'silent' });

function afterAnswer(seen: WalkState): Step {
  const { newest, movement } = seen;
  if (newest === undefined) return request(seen.position);
  if (newest.kind === 'ignored') return probe(newest);
  if (newest.kind === 'rejected') return afterRejection(seen, newest);
  if (movement?.isFrontCovered === true) return complete('nothing-behind');
  const step = afterPage(newest, seen);
  if (step.kind === 'page' && movement?.isMetAgain === true) return complete('nothing-behind');
  return step.kind === 'probe' && newest.second !== undefined ? request(newest.second) : step;
}

function afterPage(page: PageSeen, seen: WalkState): Step {
  if (page.facts.count === 0) {
    const step = afterEmptyPage(page, seen);
    // The service may have been about to fill it.
    const isUnproven = step.kind === 'end' && step.completion.kind === 'unproven';
    return isUnproven && page.hints.hasMore === true && !page.isAskedAgain ? request(page.position) : step;
  }
  const { says } = page;
  if (page.bringsNothing && says.kind !== 'end' && says.kind !== 'total-reached')
    return afterKnownLeads(page, seen);
  switch (says.kind) {
    case 'next':
      return request(says.position);
    case 'end':
      return complete(says.evidence, says.evidence === 'affirmed' ? noteBesideSetting(seen) : undefined);
    case 'total-reached':
      return complete('total');
    case 'behind-id':
      return probe(says);
    case 'contradiction':
      return unproven(says.reason);
    case 'silent':
      return isSettled(seen.totals) && !page.isFull ? complete('total') : silent;
  }
}

function afterEmptyPage({ position, facts, says, hints }: PageSeen, seen: WalkState): Step {
  const { emptyPages, isKnownList, isNumbered, first } = seen;
  const isListKnown = isKnownList || (first?.count ?? 0) > 0 || hints.total !== undefined;
  if (facts.envelope.isWithoutList === true && !isListKnown) return unproven({ kind: 'no-list' });
  if (says.kind === 'contradiction') return unproven(says.reason);
  if (says.kind === 'end') return complete(says.evidence);
  if (says.kind === 'next') {
    const { style } = says.position;
    // A next page that is only the following number, because no page says where the list ends.
    const isComputed = !hints.next && (style === 'page' || style === 'offset');
    const isCounting =
      countOfPosition(says.position) !== undefined || (isNumbered && isTellingNumber(says.position));
    const mayGoOn = !isCounting || emptyPages < mostEmptyPages;
    if (!isComputed && positionKey(says.position) !== positionKey(position) && mayGoOn)
      return request(says.position);
  }
  if (position.style === 'start' && says.kind !== 'behind-id') return complete('empty');
  const { pages } = hints;
  const isAmongPages = position.style === 'page' && pages !== undefined && position.page < pages;
  return hints.hasMore !== true && isAmongPages
    ? unproven({ kind: 'empty-page', page: position.page, pages })
    : nothingBehind(hints);
}

function afterKnownLeads(page: PageSeen, seen: WalkState): Step {
  const { isHonoured, idlePages, params, totals, first } = seen;
  const { position, hints, says, isSame, isShort } = page;
  const { lastId } = page.covers;
  const kind = countOfPosition(position)?.kind;
  const isLastAgain = isSame && isShort && isHonoured && kind === 'page';
  const isOverlap = kind === 'offset' && page.isOverlapOnly;
  const endsWithKnown =
    lastId !== undefined && lastId === recordBefore(position) && !isSame && (isShort || isOverlap);
  // The answer covers places behind the last record; or, past the end, some services give their last page again.
  if (kind !== undefined && (endsWithKnown || isLastAgain)) return nothingBehind(hints);
  // The first page again, for a number that only we thought of: the service may not page at all.
  const isOurs = (position.style === 'page' || position.style === 'offset') && !page.wasAnnounced;
  const isPageOfMore = hints.hasMore === true || (hints.pages ?? 0) > 1;
  // Of a list of one page, a service whose numbers were seen at work may give that page for each of them.
  const mayBeAll = params.pagination === 'auto' || params.provenUpTo > 0;
  if (isSame && isOurs && !isHonoured && !isPageOfMore && mayBeAll) return silent;
  // As many leads as a page holds may have arrived: one more page shows whether the number is ignored.
  const isDecided = isSame && !isHonoured && idlePages > 1;
  const isNumbered = says.kind === 'next' && countOfPosition(says.position) !== undefined;
  if (isNumbered && !isDecided && idlePages < mostIdlePages) return request(says.position);
  // A scroll that is no parameter of this address gives the first page again.
  const isCut = first === undefined || looksFull(first.count, first.size);
  return isSettled(totals) && !isCut ? complete('total') : unproven({ kind: 'nothing-new' });
}

const nothingBehind = ({ hasMore }: PaginationHints): Step =>
  hasMore === true ? unproven({ kind: 'more-without-leads' }) : complete('nothing-behind');

function afterRejection(seen: WalkState, { error }: Extract<Answer, { readonly kind: 'rejected' }>): Step {
  const { isHonoured, isAnnounced, position, longest, totals } = seen;
  // A parameter of ours that was never honoured: whether there is another one, probes will show.
  if (!isHonoured && !isAnnounced) return silent;
  const isOurs = !isAnnounced || countOfPosition(position) !== undefined;
  const isBehindEnd = error.status === 404 || (seen.previous?.count ?? 0) < longest;
  // A total of the page's own length proves nothing.
  const isReached = isSettled(totals) && (totals.last ?? 0) > longest;
  return isHonoured && isOurs && (isBehindEnd || isReached)
    ? complete('nothing-behind')
    : unproven({ kind: 'rejected-behind', of: error.problem ?? { kind: 'rejected' } });
}

function afterProbes(seen: WalkState, { reason, found }: NonNullable<WalkState['probed']>): Step {
  if (found.kind === 'next') return request(found.position);
  if (found.kind === 'nothing-behind') return complete('nothing-behind');
  const saysMore = reason.kind === 'behind-id' || (reason.kind === 'ignored' && seen.isAnnounced);
  const step = saysMore ? unproven({ kind: 'more-without-parameter' }) : withoutPosition(seen, found);
  if (step.kind !== 'end' || seen.isEndOfWays) return step;
  const { completion } = step;
  const isProven = completion.kind === 'complete' && completion.evidence !== 'lone-page';
  return isProven ? step : probe({ kind: 'behind-last' });
}

/** The service honours no position: its one page is everything, or the rest is out of reach. */
function withoutPosition(
  { params, first, totals, isFiltered, known, narrowed }: WalkState,
  found: Extract<ProbeResult, { readonly kind: 'no-position' }>,
): Step {
  const { count = 0, size, shownSize, isOnly = false, census, hasOldestBefore = false } = first ?? {};
  const { met = count, last: shown = 0 } = totals;
  const { honoursLimit, isCut, isRejected, saysMore = false, total: shownByOne = shown } = found;
  const step = judgeLonePage({
    ...{
      params,
      count,
      met,
      size,
      shownSize,
      isOnly,
      honoursLimit,
      saysMore,
      isCut,
      isRejected,
      isFiltered,
      narrowed,
    },
    total: Math.max(shown, shownByOne),
    isTotalOfPage: shownByOne < shown,
    ...{ ...known, hasOldestBefore, census },
  });
  return step.kind === 'narrow' ? probe(step) : step;
}

/**
 * What speaks against an end, whatever proves it; an end that is unproven is none to doubt, but for the first rows,
 * which say better why. The first row that gives a step decides; `ended` confirms the end.
 */
const objectionsToEnd: readonly ((seen: WalkState, end: Completion) => Step | undefined)[] = [
  ({ movement }) =>
    movement?.emptied === undefined
      ? undefined
      : unproven({ kind: 'position-filters', param: movement.emptied }),
  ({ movement }) => (movement?.isExhausted === true ? unproven({ kind: 'list-kept-moving' }) : undefined),
  ({ partial }, end) => (partial === undefined || !isSupposed(end) ? undefined : unproven(partial)),
  (seen, end) => {
    const reason = isOfLonePage(seen, end) ? unreadOf(seen) : undefined;
    return reason === undefined ? undefined : unproven(reason);
  },
  (_, end) => (end.kind === 'unproven' ? ended(end) : undefined),
  // Some services answer a cursor that they do not know any more with an empty page.
  ({ goesBackToFront, first, longest, position, isNumbered }) =>
    goesBackToFront && first === undefined && longest === 0 && !isNumbered && !isTellingNumber(position)
      ? unproven({ kind: 'nothing-behind-stop' })
      : undefined,
  (seen) => leadsToComeAgain(seen, 'run-before'),
  (seen) => leadsToComeAgain(seen, 'attempt'),
  // The front of the list was read again.
  ({ movement }, end) => {
    if (movement?.pass !== 'front') return undefined;
    if (!movement.isFrontRead) return reread('front');
    if (!movement.needsAnotherPass) return ended(end);
    return movement.mayReadAgain ? reread('again') : unproven({ kind: 'list-kept-moving' });
  },
  ({ movement, isNumbered, totals }) =>
    isNumbered && movement?.mayHavePassedOver === true && !isSettled(totals) ? reread('again') : undefined,
  ({ movement, isNumbered }) =>
    isNumbered && movement?.isFrontUnknown === true ? reread('again') : undefined,
  ({ movement, totals }) => {
    if (movement === undefined || movement.isShown || isUnchanged(totals)) return undefined;
    return movement.mayReadAgain ? reread('again') : unproven({ kind: 'list-kept-moving' });
  },
  (seen) => {
    const reason = contraryTotal(seen);
    if (reason === undefined) return undefined;
    return seen.isNumbered && seen.movement?.isFirstReading === true ? reread('again') : unproven(reason);
  },
  ({ movement, isNumbered, totals }) =>
    isNumbered && movement !== undefined && !isUnchanged(totals) ? reread('front') : undefined,
];

/** An end that met none of the leads that were there earlier, and that are asked for again. */
function leadsToComeAgain({ known, comesAgain, first }: WalkState, of: Earlier): Step | undefined {
  const { overlap, attempt } = known;
  // What an attempt met stands in front of where it stopped, and may be gone from a list that is the same one.
  const isShown = first === undefined || comesAgain['run-before'] === true;
  const leads = of === 'run-before' ? overlap : isShown ? 0 : attempt;
  if (leads === 0 || comesAgain[of] === true) return undefined;
  if (comesAgain[of] === undefined) return probe({ kind: 'come-again', of });
  return unproven(
    of === 'attempt' ? { kind: 'attempt-not-met', leads } : { kind: 'run-before-not-met', overlap },
  );
}

/** Complete, or a page that is only as long as one that may have been cut. */
const isSupposed = (end: Completion): boolean =>
  end.kind === 'complete' || end.reason.kind === 'page-may-be-cut';

/** Nothing but silence behind its one page ends the walk. */
const isOfLonePage = ({ newest, probed }: WalkState, end: Completion): boolean =>
  isSupposed(end) &&
  (end.kind === 'unproven' ||
    isNextMissingOnFirst(newest) ||
    probed?.found.kind === 'nothing-behind' ||
    ['not-paged', 'few', 'reaches-back', 'lone-page', 'empty'].includes(end.evidence));

/** Where the service names the next page now under another name, every first answer ends so. */
const isNextMissingOnFirst = (newest: WalkState['newest']): boolean =>
  newest?.kind === 'page' &&
  (newest.position.style === 'start' || newest.isFirstAnswer) &&
  newest.says.kind === 'end' &&
  newest.says.isNextMissing === true;

/** What a person says of a list may have ceased to hold. */
function noteBesideSetting(seen: WalkState): EndNote | undefined {
  const of = unreadOf(seen);
  return of && { kind: 'unread-beside-setting', of };
}

function unreadOf(seen: WalkState): UnprovenReason | undefined {
  const { newest, totals, isFiltered, known, first } = seen;
  if (newest?.kind !== 'page' || isSettled(totals)) return undefined;
  const isNextMissing = isNextMissingOnFirst(newest);
  // What counts all leads says nothing of those since a time, which are one page each day.
  const isOfAll = isNextMissing && known.since !== undefined && newest.params.since !== undefined;
  const isCounted = !isFiltered && !isOfAll && !newest.params.isTotalEstimate;
  const met = first === undefined && !totals.isResumed ? metFromMiddle(seen) : newest.met;
  return unreadEvidence({ ...newest, met: isCounted ? met : undefined, isNextMissing });
}

/** Of a walk that was told no count: it stands behind what the attempt before had of the list, some of which may come again. */
const metFromMiddle = ({ totals, known }: WalkState): number | undefined =>
  known.inFront === undefined ? undefined : known.inFront + totals.metInAll;

/** The service counts more leads than it gave. */
function contraryTotal({ totals, isFiltered }: WalkState): UnprovenReason | undefined {
  const { met, metInAll, repeated, first, last } = totals;
  // What the first answer counted may have come all the same: some totals are the length of their page.
  if (last === 0 && met !== 0 && (met ?? 0) < (first ?? 0)) return { kind: 'total-vanished' };
  if (met === undefined || first === undefined || last === undefined || isFiltered) return undefined;
  // Leads that were there all the time: later ones in front are a later walk's.
  const total = Math.min(first, last);
  if (met + repeated >= total) return undefined;
  // All readings together gave as many: some may be gone, and others not met.
  if (metInAll >= total) return { kind: 'list-kept-moving' };
  return { kind: 'total-not-met', total, met: Math.max(met, metInAll) };
}
