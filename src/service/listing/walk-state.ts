import type { LeadsError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import type { PageFacts, PaginationHints, PlacesCovered } from '../pagination/pagination-hints.ts';
import { countOfPosition, isTellingNumber, type Position } from '../pagination/position.ts';
import {
  type AnsweredPage,
  hintsOf,
  type NextPage,
  type NullNext,
  nullNextFrom,
  readNextPage,
} from '../pagination/read-next-page.ts';
import { partialAnswer } from '../pagination/unread-evidence.ts';
import type { PartialReason } from '../problems.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import type { Completion } from './incomplete-error.ts';
import type { Narrowed, Narrowing, PageCensus } from './page-census.ts';
import { countPage, type PageTally, type Totals } from './passes.ts';

/** A page that came whole. */
export interface WholePage {
  readonly kind: 'page';
  readonly facts: PageFacts;
  /** New leads of the last part; the parts before it were handed out. */
  readonly leads: readonly ScannedRecord[];
  readonly covers: PlacesCovered;
  /** Of all parts. */
  readonly tally: PageTally;
  /** A lead that the walk had not met. */
  readonly bringsNew: boolean;
  readonly firstId: string | undefined;
  /** Of the first record and of the last one: they tell pages apart whose records have no ids. */
  readonly firstMark: string;
  readonly lastMark: string;
  /** The page size that was sent. */
  readonly size: number | undefined;
  /** The list begins with it. */
  readonly isFirst: boolean;
  /** Of the page that the list begins with, where narrower requests can be made. */
  readonly census?: PageCensus | undefined;
  /** The oldest lead that the run before had, and that is asked for again, is on it. */
  readonly hasOldestBefore?: boolean | undefined;
}

/** What reading one position came to. */
export type Answer =
  | WholePage
  /** The service rejected a position behind a page that was read. */
  | { readonly kind: 'rejected'; readonly error: Pick<LeadsError, 'status' | 'problem'> }
  /** The service ignores the position that probes have found: the first page came again. */
  | { readonly kind: 'ignored' };

/** Why a walk has to find out by requests of its own where it goes on. */
export type ProbeReason =
  /** An answer says nothing about a next page, or the service rejected the one that was computed. */
  | { readonly kind: 'silent' }
  /** The service says that more follows, and nothing else; this is the last id. */
  | { readonly kind: 'behind-id'; readonly id: string | undefined }
  /** The offset that was found is ignored after all. */
  | { readonly kind: 'ignored' }
  /** One page is all that came: a part of it may show whether it is everything. */
  | { readonly kind: 'narrow'; readonly by: Narrowing }
  /** Nothing proves that one page is all: there may be rarer ways behind its last lead. */
  | { readonly kind: 'behind-last' }
  /** The run before, or an earlier attempt at this walk, had leads that this one asks for again. */
  | { readonly kind: 'come-again'; readonly of: Earlier };

export type Earlier = 'run-before' | 'attempt';

export type ProbeResult =
  /** The service honours a position: the walk goes on there. */
  | {
      readonly kind: 'next';
      readonly position: Position;
      /** It is the first page once more, which has changed. */
      readonly isFirst?: boolean;
    }
  /** The service honours a position, and nothing is behind the last record. */
  | { readonly kind: 'nothing-behind' }
  /** The service honours no position. */
  | {
      readonly kind: 'no-position';
      /** Undefined: it was not asked. */
      readonly honoursLimit: boolean | undefined;
      /** Leads in all, as the answer to a limit of 1 says. */
      readonly total?: number | undefined;
      /** That answer says that there is more, as the first page does not. */
      readonly saysMore?: boolean | undefined;
      /** The first page came again with others in the place of some leads: it does not hold all of them. */
      readonly isCut: boolean;
      /** It rejects an offset, as it does behind the end of a list that has become shorter. */
      readonly isRejected: boolean;
    }
  | { readonly kind: 'narrowed'; readonly narrowed: Narrowed }
  /** Whether any of the leads that it had came again, or is still there behind a filter. */
  | { readonly kind: 'come-again'; readonly of: Earlier; readonly isMet: boolean };

/** What was found of the way to a next page. */
export type PositionFound = Exclude<ProbeResult, { readonly kind: 'narrowed' | 'come-again' }>;

/** The newest page, and how it stands to those before it. */
export interface PageSeen extends AnsweredPage {
  readonly kind: 'page';
  /** What it says itself of the page behind it. */
  readonly says: NextPage;
  /** It is the same as the page before. */
  readonly isSame: boolean;
  /** Others were longer. */
  readonly isShort: boolean;
  /** It holds nothing but the record that it shares with the page before. */
  readonly isOverlapOnly: boolean;
  readonly bringsNothing: boolean;
  /** The page before named this one. */
  readonly wasAnnounced: boolean;
  /** It was asked for before. */
  readonly isAskedAgain: boolean;
  /** An earlier pass has found the page behind this one, which is the first. */
  readonly second: Position | undefined;
}

/** What moved in the list while it was read, as far as the pages show. */
export interface Movement {
  /** Why the list is read: once; again with every border checked; its front, for what moved there. */
  readonly pass: 'first' | 'again' | 'front';
  /** The list itself was read once only. */
  readonly isFirstReading: boolean;
  /** The newest page shows that the front was read as far as leads may have moved there. */
  readonly isFrontCovered: boolean;
  /** A front without new leads, or one where leads keep arriving. */
  readonly isFrontRead: boolean;
  readonly isFrontReadAgain: boolean;
  readonly needsAnotherPass: boolean;
  readonly mayReadAgain: boolean;
  /** The parameter for which the front of the list came back empty. */
  readonly emptied: string | undefined;
  /** The walk has stepped back as often as it may. */
  readonly isExhausted: boolean;
  /** Leads may have been passed over at a border that was not checked, or before one that moved back. */
  readonly mayHavePassedOver: boolean;
  /** Each page is shown to continue the one before it, in one answer or because all was met again. */
  readonly isShown: boolean;
  /** All that the reading before met has come again, and nothing moved: what may follow arrived since. */
  readonly isMetAgain: boolean;
  /** Records stood elsewhere than before, and it is not known how far the front reaches that they may have moved to. */
  readonly isFrontUnknown: boolean;
}

interface FirstPage {
  readonly count: number;
  readonly size: number | undefined;
  readonly shownSize: number | undefined;
  /** It says that it is the only one. */
  readonly isOnly: boolean;
  readonly census: PageCensus | undefined;
  readonly hasOldestBefore: boolean;
}

/** What is known of the list before a walk begins. */
export interface KnownBefore {
  /** Up to so many leads, one page was everything. */
  readonly provenUpTo: number;
  /** Only leads that were created since then are asked for; ms. */
  readonly since: number | undefined;
  /** Leads that the run before had, and that are asked for again. */
  readonly overlap: number;
  /** Leads that earlier attempts at this walk met. */
  readonly attempt: number;
  /** Of them, so many stand in front of where this walk begins; undefined where that is not known. */
  readonly inFront: number | undefined;
}

/** What a walk has seen so far: all that its next step depends on. */
export interface WalkState {
  readonly params: RequestParams;
  /** The service has given a list before. */
  readonly isKnownList: boolean;
  readonly isFiltered: boolean;
  /** What it cannot prove from where it began is read from the front. */
  readonly goesBackToFront: boolean;
  /** Where the newest answer came from, or the next one is asked for. */
  readonly position: Position;
  readonly newest: PageSeen | Exclude<Answer, WholePage> | undefined;
  readonly totals: Totals;
  /** Undefined where it is not looked for. */
  readonly movement: Movement | undefined;
  /** The first page, with the page sizes that were sent and that the answer shows. */
  readonly first: FirstPage | undefined;
  /** What probes behind the newest answer found, and why they were made. */
  readonly probed: { readonly reason: ProbeReason; readonly found: PositionFound } | undefined;
  readonly known: KnownBefore;
  readonly narrowed: readonly Narrowed[];
  /** The rarer ways behind the last lead of one page were tried as well. */
  readonly isEndOfWays: boolean;
  /** Whether any of their leads came again, where that was looked at. */
  readonly comesAgain: Readonly<Partial<Record<Earlier, boolean>>>;
  /** A position has brought a different page. */
  readonly isHonoured: boolean;
  /** The newest page named the next one: a position that it named and rejects is no end. */
  readonly isAnnounced: boolean;
  /** Positions are plain numbers, which mean another place when the list moves. */
  readonly isNumbered: boolean;
  readonly nullNext: NullNext;
  /** The newest page of this pass. */
  readonly previous: { readonly count: number; readonly marks: string } | undefined;
  /** Records on the longest page: a page that is shorter than others may be the last. */
  readonly longest: number;
  /** Pages in a row that are empty, and that brought nothing new. */
  readonly emptyPages: number;
  readonly idlePages: number;
  readonly effort: Effort;
  /** An answer said itself that it is not all of what was asked for. */
  readonly partial: PartialReason | undefined;
}

/** What a walk has cost, and what it has brought. */
interface Effort {
  /** Requests, but for those that were tried again. */
  readonly requests: number;
  /** Of these, answered with an empty page at a position that only the service understands. */
  readonly passedOver: number;
  /** Answers with a lead that the walk had not met. */
  readonly fruitful: number;
}

/** Before the first answer; `from` is where the walk begins. */
export const initialState = (
  params: RequestParams,
  from: Position,
  isFiltered: boolean,
  totals: Totals,
  known: KnownBefore = {
    provenUpTo: params.provenUpTo,
    since: undefined,
    overlap: 0,
    attempt: 0,
    inFront: 0,
  },
): WalkState => ({
  params,
  isKnownList: false,
  isFiltered,
  goesBackToFront: false,
  known,
  narrowed: [],
  isEndOfWays: false,
  comesAgain: {},
  position: from,
  newest: undefined,
  totals,
  movement: undefined,
  first: undefined,
  probed: undefined,
  isHonoured: false,
  isAnnounced: false,
  isNumbered: countOfPosition(from) !== undefined,
  nullNext: nullNextFrom(from),
  previous: undefined,
  longest: 0,
  emptyPages: 0,
  idlePages: 0,
  effort: { requests: 0, passedOver: 0, fruitful: 0 },
  partial: from.partial,
});

/** What the loop knows beside an answer. */
interface Beside extends Pick<WalkState, 'movement'> {
  /** Where the second page begins, if an earlier pass has found it. */
  readonly second: Position | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly requests: number;
}

/** The same, and another page is asked for. */
export const askedFor = (before: WalkState, position: Position): WalkState => ({
  ...before,
  position,
  isNumbered: before.isNumbered || countOfPosition(position) !== undefined,
});

/** A page in front is asked for: leads that were counted come again. */
export const afterStepBack = (before: WalkState, position: Position): WalkState =>
  askedFor({ ...before, totals: { ...before.totals, met: undefined } }, position);

/** The same with one answer more. */
export function withAnswer(before: WalkState, answer: Answer, beside: Beside): WalkState {
  const { movement, requests } = beside;
  const { position, isNumbered } = before;
  const isOpaque = position.style !== 'start' && !isNumbered && !isTellingNumber(position);
  const { passedOver, fruitful } = before.effort;
  const effort = {
    requests,
    passedOver: passedOver + (answer.kind === 'page' && answer.facts.count === 0 && isOpaque ? 1 : 0),
    fruitful: fruitful + (answer.kind === 'page' && answer.bringsNew ? 1 : 0),
  };
  const known: WalkState = { ...before, movement, probed: undefined, effort };
  return answer.kind === 'page' ? withPage(known, answer, beside) : { ...known, newest: answer };
}

function withPage(before: WalkState, page: WholePage, { second, now }: Beside): WalkState {
  const { params, isFiltered, position, previous, longest } = before;
  const { facts, covers, tally, leads, size, isFirst } = page;
  const { count } = facts;
  const hints = hintsOf(params, facts);
  const answeredAt = Date.parse(facts.headers['date'] ?? '');
  const totals = countPage(before.totals, {
    ...{ tally, isFirst, total: hints.total, createdAt: readCreatedAt(leads.at(-1)?.createdAt) },
    answeredAt: Number.isNaN(answeredAt) ? now : answeredAt,
  });
  const isFull = previous === undefined ? looksFull(count, size) : count === size || count >= longest;
  const marks = `${count} ${page.firstMark} ${page.lastMark}`;
  const isSame = previous?.marks === marks;
  const repeats = tally.repeated + tally.earlier > 0;
  const answered = { params, position, facts, covers, hints, isFull, isFiltered, repeats, met: totals.met };
  const isFirstAnswer = previous === undefined;
  const { says, nullNext } = readNextPage({ ...answered, isFirstAnswer, nullNext: before.nullNext });
  const isOverlapOnly = count > 0 && tally.identified + tally.withoutId === 0;
  const bringsNothing =
    isOverlapOnly ||
    (tally.identified > 0 && tally.fresh === 0 && leads.length === 0) ||
    (tally.identified === 0 && isSame);
  const idlePages = count === 0 ? before.idlePages : bringsNothing ? before.idlePages + 1 : 0;
  return {
    ...before,
    newest: {
      ...{
        kind: 'page',
        ...answered,
        isFirstAnswer,
        nullNext,
        says,
        second,
        isSame,
        isOverlapOnly,
        bringsNothing,
      },
      isShort: count < longest,
      wasAnnounced: before.isAnnounced,
      isAskedAgain: before.newest?.kind === 'page' && before.newest.position === position,
    },
    totals,
    first: before.first ?? (isFirst ? firstPage(page, hints) : undefined),
    isHonoured: before.isHonoured || (position.style !== 'start' && !isSame),
    isAnnounced:
      Boolean(hints.next) ||
      hints.hasMore === true ||
      (says.kind === 'next' && says.position.style === 'url'),
    nullNext,
    previous: { count, marks },
    // Without what the page repeats of others or of itself: that makes no page of the rest short.
    longest: Math.max(longest, count - tally.repeated),
    emptyPages: count === 0 ? before.emptyPages + 1 : 0,
    idlePages,
    partial: before.partial ?? partialAnswer(answered),
  };
}

const firstPage = (
  { facts: { count }, size, census, hasOldestBefore = false }: WholePage,
  { pageSize: shownSize, page, pages }: PaginationHints,
): FirstPage => {
  const isOnly = pages === 1 && (page === 0 || page === 1);
  return { count, size, shownSize, isOnly, census, hasOldestBefore };
};

/** The same with what probes behind the newest answer have found. */
export function withProbes(before: WalkState, reason: ProbeReason, found: ProbeResult): WalkState {
  if (found.kind === 'narrowed') return { ...before, narrowed: [...before.narrowed, found.narrowed] };
  if (found.kind === 'come-again')
    return { ...before, comesAgain: { ...before.comesAgain, [found.of]: found.isMet } };
  if (reason.kind === 'behind-last' && found.kind === 'no-position') return { ...before, isEndOfWays: true };
  return {
    ...before,
    probed: { reason, found },
    isHonoured: before.isHonoured || found.kind === 'next',
    isNumbered: before.isNumbered && found.kind !== 'no-position',
  };
}

/** The list is read from its front once more. */
export const inNextPass = (before: WalkState, totals: Totals): WalkState => ({
  ...before,
  totals: { ...totals, metInAll: before.totals.metInAll },
  previous: undefined,
  emptyPages: 0,
  idlePages: 0,
});

/**
 * What a walk has shown of a list that does not page, for `api.proven-up-to` and the bookmark. `proven`: its one page is all
 * of the leads, up to so many. `said`: it was taken for everything without a proof. Undefined where the list pages, or
 * where the walk ended in another way.
 */
export type LonePageEnd =
  { readonly kind: 'proven'; readonly upTo: number } | { readonly kind: 'said' } | undefined;

export function lonePageEnd(end: Completion | undefined): LonePageEnd {
  if (end?.kind !== 'complete') return undefined;
  if (end.provenUpTo !== undefined) return { kind: 'proven', upTo: end.provenUpTo };
  return end.evidence === 'lone-page' ? { kind: 'said' } : undefined;
}

/** Defaults and greatest page sizes of public interfaces. */
const usualCaps = [
  10, 15, 16, 20, 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 128, 150, 200, 250, 256, 300, 500, 512, 1024,
];

/** Whether `count` is a number at which services cut their pages. */
export const isUsualCap = (count: number): boolean =>
  usualCaps.includes(count) || (count > 0 && count % 1000 === 0);

/** Whether a page of `count` may have been cut: at the size that was sent, or at a usual cap below it. */
export const looksFull = (count: number, pageSize: number | undefined): boolean =>
  count > 0 && (count === pageSize || ((pageSize === undefined || count <= pageSize) && isUsualCap(count)));
