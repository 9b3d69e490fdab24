import type { Dialect } from '../../config/dialect.ts';
import { hintsOf } from '../../service/pagers/hints.ts';
import { cursorParams, numberParams } from '../../service/pagers/names.ts';
import { pass, warn } from '../check-result.ts';
import { type Examination, keysOf, type SeenPage, type ShortWalk } from './examination.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';

/**
 * `limitName` is the honoured parameter for the page size, if any; `first` the answer to a request without parameters;
 * `beginning` the keys of the leads that begin the list, as far as they are known.
 */
interface PagingSearch {
  readonly examination: Examination;
  readonly limitName: string | undefined;
  readonly first: SeenPage;
  readonly beginning: readonly string[];
}

/** The size of the pages that show how a list continues which would fit on one large page. */
const smallSize = 5;

const checkName = 'dialect.pagination';

/**
 * Finds out how pages follow each other. First the list is walked in the dialect in force, as an export walks it. If that shows no
 * second page, and when learning, it is walked with the names that services use. Returns the walk of an export in the dialect that
 * was learnt, else the first walk.
 */
export async function findPaging(
  examination: Examination,
  limit: NameFinding,
  first: SeenPage,
): Promise<ShortWalk> {
  const exportWalk = await examination.walkTwoPages({});
  const [page = []] = exportWalk.pages;
  const beginning = keysOf(page.length < first.leads.length ? first.leads : page);
  const limitName = limit.effect === 'honoured' ? limit.name : undefined;
  const search: PagingSearch = { examination, limitName, first, beginning };
  const learnt = examination.isLearning ? await learnPaging(search, exportWalk) : undefined;
  if (learnt !== undefined) return learnt;
  if (exportWalk.pages.length > 1) adoptDialect(examination, exportWalk, dialectOfWalk(search, exportWalk));
  else reportLonePage(search, exportWalk);
  return exportWalk;
}

/** Gives the walk of an export in the dialect that was found; undefined where none was found, or none is needed. */
async function learnPaging(search: PagingSearch, exportWalk: ShortWalk): Promise<ShortWalk | undefined> {
  const { examination, limitName, beginning } = search;
  // An export that knows no parameter for pages asks for what is before the last lead's id or time: style `before`.
  const isPagingKnown = exportWalk.pages.length > 1 && exportWalk.next?.style !== 'before';
  if (isPagingKnown || beginning.length < 2) return undefined;
  // No trials with small pages (0) where no limit is honoured, and where fewer than 3 leads make no two pages to compare.
  const trialSize = limitName === undefined ? 0 : Math.min(smallSize, Math.floor((beginning.length - 1) / 2));
  /* Without small pages the trials repeat what the export has asked, with more names in one request. That shows nothing new where
     the end of the export was proven, and is not possible where names have to be sent alone. */
  const hasNothingToTry = trialSize === 0 && (endsWithProof(exportWalk) || examination.isServiceStrict);
  if (hasNothingToTry) return undefined;
  const pageSize = trialSize > 0 ? trialSize : undefined;
  for await (const dialect of dialectsFor(search, exportWalk, trialSize)) {
    const trialWalk = await examination.walkTwoPages(dialect, pageSize);
    if (!isTwoPagesOf(beginning, trialWalk)) continue;
    const learnt = { ...dialect, ...dialectOfWalk(search, trialWalk) };
    const learntExport = pageSize === undefined ? trialWalk : await examination.walkTwoPages(learnt);
    if (!coversBeginning(beginning, learntExport)) continue;
    adoptDialect(examination, trialWalk, learnt);
    return learntExport;
  }
  return undefined;
}

/**
 * Whether the two pages of a walk are the beginning of the list. Other leads may have arrived before them, and where the first page
 * holds all of the beginning, the second holds leads that are not known.
 */
export function isTwoPagesOf(beginning: readonly string[], { pages }: Pick<ShortWalk, 'pages'>): boolean {
  const [first = [], second] = pages.map((page) => keysOf(page).filter((key) => beginning.includes(key)));
  if (second === undefined || first.length === 0) return false;
  const maySecondFollow = second.length > 0 || first.length === beginning.length;
  return maySecondFollow && [...first, ...second].every((key, i) => key === beginning[i]);
}

/** Whether a walk met every lead of the beginning: all of it where the walk ended, else as many as the walk has read. */
function coversBeginning(beginning: readonly string[], { pages, completion, rejection }: ShortWalk): boolean {
  const keys = new Set(keysOf(pages.flat()));
  const expected = completion === undefined ? beginning.slice(0, keys.size) : beginning;
  return rejection === undefined && expected.every((key) => keys.has(key));
}

/** Whether the end is proven by more than that no parameter changed the answer. */
const endsWithProof = ({ completion }: ShortWalk): boolean =>
  completion?.kind === 'complete' && !['not-paged', 'reaches-back'].includes(completion.evidence);

/**
 * Yields dialects in which another page may follow, and which a walk has to prove. The first is the present one (`{}`), where the
 * answer says that there is more. It is the only one for links and next URLs, which every walk follows by itself; else come names
 * for the cursor of the answer, or for page numbers and offsets.
 */
async function* dialectsFor(
  search: PagingSearch,
  exportWalk: ShortWalk,
  trialSize: number,
): AsyncGenerator<Dialect> {
  const { examination, limitName, first, beginning } = search;
  const isSmall = limitName !== undefined && trialSize > 0;
  const small = isSmall ? await examination.ask({ [limitName]: String(trialSize) }) : first;
  const { leads, facts } = small === undefined || small instanceof Error ? first : small;
  const hints = facts && hintsOf(examination.params, facts);
  const next = hints?.next?.value;
  const isLinked = hints?.links?.has('next') === true;
  const namesMore = next !== undefined || isLinked || hints?.hasMore === true;
  if (namesMore && exportWalk.pages.length < 2) yield {};
  if (isLinked || (typeof next === 'string' && /^(https?:|\/|\?)/.test(next))) return;
  if (typeof next === 'string') {
    const cursor = await findPosition(search, cursorParams, [positionTrial(beginning, next, [leads.length])]);
    if (cursor !== undefined) yield { pagination: 'cursor', params: { cursor } };
    return;
  }
  yield* numberedDialects(search);
}

/** Yields dialects whose page number or offset leads to another page. */
async function* numberedDialects(search: PagingSearch): AsyncGenerator<Dialect> {
  const { examination, limitName, beginning } = search;
  const { params } = examination;
  const places = beginning.slice(1).map((_, i) => i + 1);
  /* The trials ask for pages of one lead: page 4 holds the fourth lead, or the fifth where pages count from 0. Every second place is
     taken, so that no two trials accept the same lead. */
  const numbers = places
    .filter((place) => place % 2 === 1)
    .map((place) => positionTrial(beginning, String(place + 1), [place, place + 1]));
  const pages = limitName === undefined ? [positionTrial(beginning, '2', [beginning.length])] : numbers;
  const page = await findPosition(search, [params.page, ...numberParams.page.tried], pages);
  if (page !== undefined) {
    // `page` counts from 1, and `auto` finds out from what number the service counts.
    yield { pagination: 'page', params: { page } };
    yield { pagination: 'auto', params: { page } };
  }
  const offsets = places.map((place) => positionTrial(beginning, String(place), [place]));
  const names = [params.offset ?? 'offset', ...numberParams.offset.tried];
  const offset = await findPosition(search, names, offsets);
  if (offset !== undefined) yield { pagination: 'offset', params: { offset } };
}

/** The name that the service honours for a position, if any of these. */
async function findPosition(
  { examination, limitName, first }: PagingSearch,
  names: readonly string[],
  trials: readonly Trial[],
): Promise<string | undefined> {
  // A name that goes with the one of the limit is likelier: $skip beside $limit.
  const [prefix] = /^([_$]|\w+\[)/.exec(limitName ?? '') ?? [];
  const isLikely = (name: string): boolean => prefix !== undefined && name.startsWith(prefix);
  const sorted = [...new Set(names)].toSorted((a, b) => Number(isLikely(b)) - Number(isLikely(a)));
  const search =
    limitName === undefined
      ? { query: {}, baseline: first.leads, trials }
      : { query: { [limitName]: '1' }, baseline: first.leads.slice(0, 1), trials };
  const { effect, name } = await findName(examination, search, sorted);
  return effect === 'honoured' ? name : undefined;
}

/** A value that leads to one of these places, which count from 0; a place after the beginning may hold any unknown lead. */
function positionTrial(beginning: readonly string[], text: string, places: readonly number[]): Trial {
  const expectedKeys = places.map((place) => beginning[place]);
  const fits: Trial['fits'] = ([lead]) => {
    const knownKey = lead !== undefined && beginning.includes(lead.key) ? lead.key : undefined;
    return lead !== undefined && expectedKeys.includes(knownKey);
  };
  return { text, expected: [], description: 'another page', fits };
}

/** The settings with which an export pages as this walk did, without those that every walk finds out by itself. */
function dialectOfWalk({ limitName, examination }: PagingSearch, { next, pagesBefore }: ShortWalk): Dialect {
  if (next === undefined || next.style === 'start') return {};
  if (next.style === 'url')
    return { pagination: examination.headers['link'] === undefined ? 'auto' : 'link', nextSeen: true };
  const [param, ...more] = next.style === 'before' ? [...next.ids, ...next.times] : [next.param];
  // A walk that sends several names together finds out by itself which name counts.
  if (param === undefined || more.length > 0) return {};
  const dialect = { pagination: next.style, params: { [next.style]: param } };
  if (next.style === 'cursor') return { ...dialect, nextSeen: true };
  if (next.style !== 'page') return dialect;
  // Pages that overlap have numbers of their own.
  const base = next.window === undefined ? next.number - pagesBefore : next.base;
  // Without a size in force, each walk has to find out whether a short list has a second page.
  return base === 1 && limitName !== undefined ? dialect : { ...dialect, pagination: 'auto' };
}

/** Makes this dialect the one of further requests, and reports it with the walk that proves it. */
function adoptDialect(examination: Examination, { pages }: ShortWalk, dialect: Dialect): void {
  const isPaginationSet = (examination.inForce.pagination ?? 'auto') !== 'auto';
  examination.changeDialect(dialect);
  const { params = {}, pagination, nextSeen } = dialect;
  const [first = [], second = []] = pages;
  const evidence = `two pages followed each other, of ${first.length} and ${second.length} leads`;
  const [[name, param] = []] = Object.entries(params);
  const unnamedWay = nextSeen === true ? 'the service names the next page' : 'by the last lead of a page';
  const way = name === undefined ? unnamedWay : `${name} in ${param}`;
  examination.checks.push(pass(checkName, `${way}: ${evidence}`));
  if (name !== undefined && param !== undefined) examination.addLearntKey(`params.${name}`, param, evidence);
  if (pagination !== undefined && (pagination !== 'auto' || isPaginationSet))
    examination.addLearntKey('pagination', pagination, evidence);
  const namesNext = 'a page named the next one: one that names none is the last';
  if (nextSeen === true) examination.addLearntKey('next-seen', true, namesNext);
}

/** Reports a list of which only one page is known: as whole where that is proven, else with what the person can do. */
function reportLonePage(search: PagingSearch, walk: ShortWalk): void {
  const { examination, beginning, limitName } = search;
  const { checks, isLearning } = examination;
  const { completion, rejection } = walk;
  const counted = `${beginning.length} lead${beginning.length === 1 ? '' : 's'} came on one page`;
  const isProven = completion?.kind === 'complete' && beginning.length > 1;
  if (isProven && (!isLearning || completion.evidence === 'not-paged'))
    checks.push(pass(checkName, `one page: all ${counted}`));
  else if (rejection !== undefined) checks.push(warn(checkName, rejection));
  else {
    const limited = limitName === undefined ? '' : `${limitName} is honoured, but `;
    const detail = `${counted}: ${limited}no usual parameter leads to another one`;
    checks.push(warn(checkName, detail, adviceFor(search, walk)));
  }
}

function adviceFor({ examination, beginning, first }: PagingSearch, walk: ShortWalk): string {
  if (!examination.isLearning) return "'leads doctor --learn' looks for the parameters that it pages by";
  if (beginning.length < 2 || endsWithProof(walk)) return 'run it again when there are more';
  const setName = 'leads config set api.params.page … (or api.params.offset, api.params.cursor)';
  const hints = first.facts && hintsOf(examination.params, first.facts);
  if (hints?.hasMore === true || (hints?.total ?? 0) > beginning.length)
    return `there are more; name what it pages by: ${setName}`;
  return `if one page is all: leads config set api.pagination none; otherwise: ${setName}`;
}
