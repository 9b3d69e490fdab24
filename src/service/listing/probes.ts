import type { ScannedRecord } from '../../json/scanner.ts';
import type { IdSet } from '../../lead/id-set.ts';
import { hintsOf, positionById } from '../pagination/read-next-page.ts';
import type { PageFacts } from '../pagination/pagination-hints.ts';
import { type Position, recordBefore } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { idParams } from '../pagination/service-names.ts';
import { type FirstPage, probeBehindLast } from './behind-last.ts';
import { type Peek, type Peeked, widening } from './fetch-page.ts';
import type { LeadQuery } from './listing-types.ts';
import { narrowed, type Narrowed, NarrowedAnswer, type Narrowing, type PageCensus } from './page-census.ts';
import {
  type Earlier,
  looksFull,
  type PositionFound,
  type ProbeReason,
  type ProbeResult,
  type WholePage,
} from './walk-state.ts';

type PositionReason = Exclude<ProbeReason, { readonly kind: 'narrow' | 'come-again' }>;

/** What the probes so far say of a list in which no position is found. */
type Limits = Omit<Extract<ProbeResult, { readonly kind: 'no-position' }>, 'kind'>;

const nothingAsked: Limits = { honoursLimit: undefined, isRejected: false, isCut: false };
const nothingFound: PositionFound = { kind: 'no-position', ...nothingAsked };

/** The probes of one walk: they are made once, behind its first page. */
export class Probes {
  readonly #params: RequestParams;
  readonly #peek: Peek;
  readonly #seen: IdSet;
  readonly #comesAgain: (of: Earlier) => Promise<boolean>;
  #page: SilentPage | undefined;
  #isUsed = false;
  #rest: RestOfProbes = { last: 'last-id', ...nothingAsked };
  #isFirst = false;
  /** Where the second page begins: the first page does not say. */
  second: Position | undefined;

  /** `comesAgain` is whether the walk, or another one, has met a lead that was there earlier. */
  constructor(
    params: RequestParams,
    peek: Peek,
    seen: IdSet,
    comesAgain: (of: Earlier) => Promise<boolean> = () => Promise.resolve(true),
  ) {
    this.#params = params;
    this.#peek = peek;
    this.#seen = seen;
    this.#comesAgain = comesAgain;
  }

  /** Remembers the first page. */
  noteFirst({ facts, firstId, firstMark, size, census }: WholePage): void {
    const { count, lastId } = facts;
    // A walk that is resumed, or reads the list again, knows the leads of other pages, too.
    const { pass } = this.#seen;
    const isKnown = (id: string): boolean => this.#seen.isMetSince(id, pass);
    const { url } = facts;
    const oldest = facts.oldest?.();
    const answeredAt = Date.parse(facts.headers['date'] ?? '');
    const { total } = hintsOf(this.#params, facts);
    this.#page ??= {
      ...{ isKnown, count, firstId, lastId, firstMark, size, total, url, oldest, census, answeredAt },
    };
  }

  async run(reason: ProbeReason): Promise<ProbeResult> {
    if (reason.kind === 'come-again') return { ...reason, isMet: await this.#comesAgain(reason.of) };
    const page = this.#page;
    if (page === undefined) return nothingFound;
    if (reason.kind === 'narrow') return { kind: 'narrowed', narrowed: await this.#narrow(reason.by, page) };
    const found = await this.#limited(await this.#run(reason, page), page);
    if (found.kind !== 'next') return found;
    this.second = { ...found.position, size: page.size };
    this.#rest = found.rest ?? this.#rest;
    this.#isFirst = found.isFirst === true;
    return { ...found, position: this.second };
  }

  /** An offset that was rejected says nothing of the limit of 1 that was sent with it, which a full page depends on. */
  async #limited(found: ProbesFound, page: SilentPage): Promise<ProbesFound> {
    if (found.kind !== 'no-position' || !found.isRejected || !looksFull(page.count, page.size)) return found;
    const one = await this.#peek({ style: 'start' }, 1, true);
    return { ...found, ...limitsIn(one, page) };
  }

  async #narrow(by: Narrowing, page: SilentPage): Promise<Narrowed> {
    if (page.census === undefined) return { of: by, shows: 'nothing' };
    const answer = new NarrowedAnswer(by, { ...page, census: page.census });
    const query = (all: LeadQuery): LeadQuery => narrowed(all, by, widening);
    const peeked = await this.#peek({ style: 'start' }, page.size, false, { query, read: answer.add });
    return { of: by, shows: peeked.kind === 'page' ? answer.shows : 'nothing' };
  }

  async #run(reason: PositionReason, page: SilentPage): Promise<ProbesFound> {
    if (reason.kind === 'ignored') return probeRest(this.#params, page, this.#peek, this.#rest);
    if (reason.kind === 'behind-last')
      return (await probeBehindLast(this.#params, page, this.#peek)) ?? nothingFound;
    if (this.#isUsed) return nothingFound;
    this.#isUsed = true;
    return reason.kind === 'silent'
      ? probePositions(this.#params, page, this.#peek)
      : this.#probeMore(reason.id, page);
  }

  /** Where the first page says that more follows, only a position is an answer; a later page has its own ways. */
  async #probeMore(id: string | undefined, page: SilentPage): Promise<ProbesFound> {
    const position = id === undefined ? undefined : await probeById(this.#params, id, page, this.#peek);
    if (position !== undefined) return next(position);
    if (id !== page.lastId) return nothingFound;
    const found = await probePositions(this.#params, page, this.#peek, 'none');
    return found.kind === 'next' ? found : nothingFound;
  }

  /**
   * The first page's number where leads are missing in front of the second one: as many leads as a page holds may have
   * arrived, and made the second page look like the first.
   */
  recount(position: Position): number | undefined {
    const { firstPage } = this.#params;
    if (this.second?.style !== 'page' || position.style !== 'page') return undefined;
    if (this.second.page !== firstPage + 1 || position.page !== this.second.page) return undefined;
    this.second = { ...this.second, page: firstPage };
    return firstPage - 1;
  }

  /** The second page, as it stands behind a new reading of the first one: the list may have moved since the probes. */
  secondBehind({ count, lastId }: PageFacts): Position | undefined {
    const { second } = this;
    if (second === undefined) return undefined;
    const now = this.#isFirst && second.style === 'page' ? { ...second, page: second.page + 1 } : second;
    return lastId === undefined ? now : behind(now, count, lastId);
  }

  /** The walk goes on there. */
  goOnAt(second: Position): void {
    this.second = second;
    this.#isFirst = false;
  }

  /**
   * A lead that arrived in front may have looked like one behind the offset: then the first page comes again. A lead of
   * the first page that moved behind the offset is no sign of that: most of the others are new then.
   */
  isIgnored(position: Position, leads: readonly ScannedRecord[]): boolean {
    const page = this.#page;
    if (position !== this.second || position.style !== 'offset' || page?.firstId === undefined) return false;
    const ids = leads.map(({ id }) => id);
    // It begins where the first page ended, and goes on: what it repeats of that does not matter.
    const isBehind = ids[0] !== undefined && ids[0] === recordBefore(position);
    if (isBehind && ids[1] !== undefined && !page.isKnown(ids[1])) return false;
    const found = compare(page, {
      kind: 'page',
      count: ids.length,
      ids,
      firstMark: '',
      total: undefined,
      saysMore: false,
    });
    if (found === 'cut') this.#rest = { ...this.#rest, isCut: true };
    return (found === 'same' || found === 'cut') && isInFront(page, this.#rest.probed, ids);
  }
}

function behind(second: Position, count: number, after: string): Position {
  if (second.style === 'page') return { ...second, after };
  if (second.style === 'cursor') return second.is === 'time' ? second : { ...second, cursor: after };
  if (second.style !== 'offset') return second;
  return count < 2 ? { ...second, offset: count, after: undefined } : { ...second, offset: count - 1, after };
}

/** What is left to ask where a position that was found is ignored after all. */
type ProbesFound = PositionFound & { readonly rest?: RestOfProbes };

/** What the probes before the last one found, and which the last one is. */
interface RestOfProbes extends Limits {
  readonly last: 'first-number' | 'last-id' | 'last-id, first-number' | 'zero' | 'none';
  /** The lead that was found at the offset. */
  readonly probed?: string | undefined;
}

/** What an answer shows for which a limit of 1 was sent. */
function limitsIn(one: Peeked, { count }: SilentPage): Pick<Limits, 'honoursLimit' | 'total' | 'saysMore'> {
  const honoursLimit = one.kind === 'page' && one.count === 1 && count > 1;
  return honoursLimit
    ? { honoursLimit, total: one.total, saysMore: one.saysMore }
    : { honoursLimit, total: one.kind === 'page' ? one.total : undefined };
}

const next = (position: Position, isFirst = false): ProbesFound => ({ kind: 'next', position, isFirst });
const numbered = ({ page: param }: RequestParams, number: number, { lastId }: SilentPage): Position => ({
  ...{ style: 'page', param, page: number, after: lastId },
});

/**
 * Finds out how a service pages whose first page names no next one, with three requests at most: by page number, by
 * offset (with a limit of 1), by the last id; and a fourth one, by the first number, where each of them is rejected.
 */
async function probePositions(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
  lastProbe: RestOfProbes['last'] = 'last-id',
): Promise<ProbesFound> {
  const { url, firstPage } = params;
  const { count, lastId: after, size } = page;
  const offset: Position = { style: 'offset', param: params.offset ?? 'offset', offset: count };
  const overlapping: Position =
    after === undefined || count < 2 ? offset : { ...offset, offset: count - 1, after };
  const lookAt = (number: number): Promise<Peeked> => peek(numbered(params, number, page), size, true);

  let last = lastProbe;
  let isCut = false;
  if (params.offset === undefined || url.searchParams.has(params.page)) {
    const second = compare(page, await lookAt(firstPage + 1));
    if (second === 'different' || second === 'empty' || second === 'no-such-page') {
      const isNumberKnown = url.searchParams.has(params.page) && second === 'different';
      const again = isNumberKnown ? undefined : await lookAt(firstPage);
      const first = again === undefined ? 'same' : compare(page, again);
      const hasOthers = again !== undefined && holdsOthers(page, again);
      const isFirst = first === 'same' || first === 'cut';
      if (second === 'different') return next(numbered(params, isFirst ? firstPage + 1 : firstPage, page));
      // Page 1 is the second one where they are counted from 0; or the list moved, and a lead from behind stands there.
      // Page 1 of two, with the first lead of page 0, or what is left of the first page; of a large page a part was read.
      const seemsShorter = first === 'same' && again?.kind === 'page' && again.count < count;
      const whole = seemsShorter ? await peek(numbered(params, firstPage, page), size) : undefined;
      const isShorter = whole?.kind === 'page' && whole.count < count;
      if (first === 'different' || hasOthers || isShorter)
        return next(numbered(params, firstPage, page), isFirst);
      if (second === 'no-such-page') {
        if (first === 'empty') return next(numbered(params, firstPage - 1, page), true);
        // It knows the parameter, and has one page.
        if (first === 'same') return { kind: 'nothing-behind' };
        last = 'none';
      } else {
        if (first !== 'empty') return { kind: 'nothing-behind' };
        // Both pages empty: the parameter may be taken for a filter, and then the offset, too.
        // A whole page: where the offset is ignored, it shows a lead that moved up meanwhile.
        const one = await peek(offset, page.size, true);
        const found = compare(page, one);
        const probed = one.kind === 'page' ? one.ids[0] : undefined;
        const rest = { last: 'zero', ...nothingAsked, isCut, probed } as const;
        if (found === 'different') return { kind: 'next', position: overlapping, rest };
        if (found === 'empty') return { kind: 'no-position', ...rest };
        // Pages are counted from 0, and the only one may have changed.
        const isAll = found === 'same' && !holdsOthers(page, one);
        return isAll ? { kind: 'nothing-behind' } : probeRest(params, page, peek, rest);
      }
    }
    isCut = second === 'cut';
    // Of two parameters it rejects one and ignores the other: it knows the first, and its pages may be counted from 0.
    if (second === 'rejected') last = 'first-number';
  }
  const one = await peek(offset, params.limit === undefined ? undefined : 1, true);
  const behind = compare(page, one);
  const rest = {
    last: last === 'first-number' && behind === 'rejected' ? 'last-id, first-number' : last,
    ...(params.limit === undefined ? nothingAsked : limitsIn(one, page)),
    isCut: isCut || behind === 'cut',
    isRejected: behind === 'rejected',
  } as const;
  if (behind === 'different') {
    const probed = one.kind === 'page' ? one.ids[0] : undefined;
    return { kind: 'next', position: overlapping, rest: { ...rest, probed } };
  }
  // A lead that vanished may have moved the last one over the border: the walk shows it, since it overlaps.
  if (behind === 'empty') {
    // An answer without leads counts as many, too: the total is right, and all of them came.
    const isAll = one.kind === 'page' && one.total === count && page.total === count;
    return isAll || overlapping === offset ? { kind: 'nothing-behind' } : next(overlapping);
  }
  return probeRest(params, page, peek, rest);
}

/** The last of the probes; alone, where the walk found that the service ignores the offset after all. */
async function probeRest(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
  { last, isRejected, isCut, ...limits }: RestOfProbes,
): Promise<ProbesFound> {
  if (last === 'zero') return next(numbered(params, params.firstPage - 1, page), true);
  let isCutHere = isCut;
  if (last.startsWith('last-id') && page.lastId !== undefined) {
    const position = positionById(params, undefined, page.lastId);
    const answer = await peek(position, page.size, true);
    const found = compare(page, answer);
    if (found === 'different') return next(position);
    if (found === 'empty') return { kind: 'nothing-behind' };
    // An offset that is rejected may lie behind the end of a list that has become shorter: others moved up from there.
    if (found === 'cut' || (isRejected && holdsOthers(page, answer))) isCutHere = true;
    if (found !== 'rejected') return { kind: 'no-position', ...limits, isRejected, isCut: isCutHere };
  }
  if (last.endsWith('first-number')) {
    const position = numbered(params, params.firstPage, page);
    const first = await peek(position, page.size, true);
    const found = compare(page, first);
    if (found === 'different' || found === 'cut' || (found === 'same' && holdsOthers(page, first)))
      return next(position, found !== 'different');
  }
  return { kind: 'no-position', ...limits, isRejected, isCut: isCutHere };
}

/** The parameter that takes the last id, where a service says `has_more` and nothing else. */
async function probeById(
  params: RequestParams,
  id: string,
  page: SilentPage,
  peek: Peek,
): Promise<Position | undefined> {
  const names = params.cursor === undefined ? idParams : [params.cursor];
  for (const name of names) {
    const position = positionById(params, name, id);
    const found = compare(page, await peek(position, page.size, true));
    if (found === 'different' || found === 'empty') return position;
  }
  return undefined;
}

/** A page that names no next one. */
interface SilentPage extends FirstPage {
  readonly firstMark: string;
  /** Leads in all, as it says. */
  readonly total: number | undefined;
  readonly census: PageCensus | undefined;
  /** By the service's clock. */
  readonly answeredAt: number;
}

type Found =
  | 'different'
  | 'empty'
  /** The first page came again. */
  | 'same'
  /** It came again, and leads that arrived took the place of others: the service cuts its answer there. */
  | 'cut'
  | 'no-such-page'
  | 'rejected';

/** What a page is that was asked for by a parameter which the service may ignore, while leads arrive and vanish. */
function compare(page: SilentPage, peeked: Peeked): Found {
  if (peeked.kind === 'rejected') return peeked.status === 404 ? 'no-such-page' : 'rejected';
  if (peeked.count === 0) return 'empty';
  const { firstId, lastId, count, isKnown } = page;
  if (firstId === undefined) return peeked.firstMark === page.firstMark ? 'same' : 'different';
  const { ids } = peeked;
  const isOld = (id: string | undefined): boolean => id !== undefined && isKnown(id);
  const old = ids.filter(isOld);
  if (old.length >= count) return 'same';
  const fromFirst = ids.slice(ids.indexOf(firstId));
  const isFirstThere = fromFirst[0] === firstId;
  // One record that is another one than the first: the list has grown by as much.
  if (ids.length === 1) return isFirstThere ? 'same' : 'different';
  const isLong = ids.length >= count;
  const isMostlyOld = old.filter((id) => id !== lastId).length * 2 > Math.max(count, ids.length);
  // Leads that arrive stand in front of the first one; a second page that repeats it has others behind it.
  const isPushed = isLong && isFirstThere && fromFirst.filter(isOld).length * 2 > fromFirst.length;
  if (!isMostlyOld && !isPushed) return 'different';
  // A longer page shows that the first one was not cut where it ended.
  return ids.length === count && old.length < ids.length ? 'cut' : 'same';
}

/** Whether a page holds leads that were not on the first one. */
const holdsOthers = ({ isKnown }: SilentPage, peeked: Peeked): boolean =>
  peeked.kind === 'page' && peeked.ids.some((id) => id !== undefined && !isKnown(id));

/**
 * Whether a page is the first one although an offset was asked for: what a probe found there, instead of the first
 * lead, stands in front of it.
 */
function isInFront(
  page: SilentPage,
  probed: string | undefined,
  ids: readonly (string | undefined)[],
): boolean {
  const at = ids.indexOf(probed);
  const first = ids.indexOf(page.firstId);
  return first < 0 ? at === 0 : at >= 0 && at < first;
}
