import type { Dialect } from '../../config/dialect.ts';
import { hintsOf } from '../../service/pagers/hints.ts';
import { cursorParams, numberParams } from '../../service/pagers/names.ts';
import { pass, warn } from '../check-result.ts';
import { type Examination, keysOf, type SeenPage, type Walked } from './examination.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';

interface PagingSearch {
  readonly examination: Examination;
  readonly limitName: string | undefined;
  readonly first: SeenPage;
  readonly begin: readonly string[];
}

/** Small pages show how a list continues that fits on one large page. */
const smallSize = 5;

const check = 'dialect.pagination';

/**
 * Finds out how pages follow each other: by a walk as an export makes it, and if that finds no second page by walks with the names
 * that services use. Gives the walk of the export.
 */
export async function findPaging(
  examination: Examination,
  { effect, name }: NameFinding,
  first: SeenPage,
): Promise<Walked> {
  const { isLearning } = examination;
  const exported = await examination.walk({});
  const [page = []] = exported.pages;
  const begin = keysOf(page.length < first.leads.length ? first.leads : page);
  const limitName = effect === 'honoured' ? name : undefined;
  const search: PagingSearch = { examination, limitName, first, begin };
  const size = limitName === undefined ? 0 : Math.min(smallSize, Math.floor((begin.length - 1) / 2));
  // Leads by their id or time are a way around a parameter that has another name.
  const isPaged = exported.pages.length > 1 && !(isLearning && exported.next?.style === 'before');
  // An export has tried the usual names one by one.
  const isOver = size < 1 && (endsWithProof(exported) || examination.isStrict);
  if (!isPaged && isLearning && begin.length > 1 && !isOver) {
    const pageSize = size > 0 ? size : undefined;
    for await (const dialect of dialectsFor(search, exported, size)) {
      const tried = await examination.walk(dialect, pageSize);
      if (!followsBegin(begin, tried)) continue;
      const learnt = { ...dialect, ...dialectOf(search, tried) };
      const whole = pageSize === undefined ? tried : await examination.walk(learnt);
      if (!bringsBegin(begin, whole)) continue;
      reportPages(examination, tried, learnt);
      return whole;
    }
  }
  if (exported.pages.length > 1) reportPages(examination, exported, dialectOf(search, exported));
  else reportLonePage(search, exported);
  return exported;
}

/** Whether the two pages of a walk are the beginning of the list. Other leads may have arrived before them. */
export function followsBegin(begin: readonly string[], { pages }: Pick<Walked, 'pages'>): boolean {
  const [first = [], second] = pages.map((page) => keysOf(page).filter((key) => begin.includes(key)));
  if (second === undefined || first.length === 0) return false;
  const isNext = second.length > 0 || first.length === begin.length;
  return isNext && [...first, ...second].every((key, i) => key === begin[i]);
}

function bringsBegin(begin: readonly string[], { pages, completion, rejection }: Walked): boolean {
  const keys = new Set(keysOf(pages.flat()));
  const expected = completion === undefined ? begin.slice(0, keys.size) : begin;
  return rejection === undefined && expected.every((key) => keys.has(key));
}

/** The end is proven by something else than that no parameter changed the answer. */
const endsWithProof = ({ completion }: Walked): boolean =>
  completion?.kind === 'complete' && !['not-paged', 'reaches-back'].includes(completion.evidence);

/** Dialects in which another page may follow, the likeliest first; a walk has to prove each. */
async function* dialectsFor(search: PagingSearch, exported: Walked, size: number): AsyncGenerator<Dialect> {
  const { examination, limitName, first, begin } = search;
  const { params } = examination;
  const small = size > 0 ? await examination.ask({ [limitName ?? '']: String(size) }) : first;
  const { leads, facts } = small === undefined || small instanceof Error ? first : small;
  const hints = facts && hintsOf(params, facts);
  const next = hints?.next?.value;
  const isLinked = hints?.links?.has('next') === true;
  const namesMore = next !== undefined || isLinked || hints?.hasMore === true;
  if (namesMore && exported.pages.length < 2) yield {};
  if (isLinked || (typeof next === 'string' && /^(https?:|\/|\?)/.test(next))) return;
  if (typeof next === 'string') {
    const cursor = await findPosition(search, cursorParams, [leadsTo(begin, next, [leads.length])]);
    if (cursor !== undefined) yield { pagination: 'cursor', params: { cursor } };
    return;
  }
  const places = begin.slice(1).map((_, i) => i + 1);
  // On pages of one lead, number 4 holds the fourth lead, or the fifth where pages count from 0.
  const numbers = places
    .filter((place) => place % 2 === 1)
    .map((place) => leadsTo(begin, String(place + 1), [place, place + 1]));
  const pages = limitName === undefined ? [leadsTo(begin, '2', [begin.length])] : numbers;
  const page = await findPosition(search, [params.page, ...numberParams.page.usual], pages);
  if (page !== undefined) yield { pagination: 'page', params: { page } };
  if (page !== undefined) yield { pagination: 'auto', params: { page } };
  const offsets = places.map((place) => leadsTo(begin, String(place), [place]));
  const names = [params.offset ?? 'offset', ...numberParams.offset.usual];
  const offset = await findPosition(search, names, offsets);
  if (offset !== undefined) yield { pagination: 'offset', params: { offset } };
}

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
      ? { query: {}, without: first.leads, trials }
      : { query: { [limitName]: '1' }, without: first.leads.slice(0, 1), trials };
  const { effect, name } = await findName(examination, search, sorted);
  return effect === 'honoured' ? name : undefined;
}

/** A value that leads to one of these places; after the known leads, any other lead may stand. */
function leadsTo(begin: readonly string[], text: string, places: readonly number[]): Trial {
  const keys = places.map((place) => begin[place]);
  const fits: Trial['fits'] = ([lead]) =>
    lead !== undefined && keys.includes(begin.includes(lead.key) ? lead.key : undefined);
  return { text, expected: [], description: 'another page', fits };
}

function dialectOf({ limitName, examination }: PagingSearch, { next, pagesBefore }: Walked): Dialect {
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

function reportPages(examination: Examination, { pages }: Walked, dialect: Dialect): void {
  const isPaginationSet = (examination.inForce.pagination ?? 'auto') !== 'auto';
  examination.set(dialect);
  const { params = {}, pagination, nextSeen } = dialect;
  const [first = [], second = []] = pages;
  const evidence = `two pages followed each other, of ${first.length} and ${second.length} leads`;
  const [[name, param] = []] = Object.entries(params);
  const unnamed = nextSeen === true ? 'the service names the next page' : 'by the last lead of a page';
  const way = name === undefined ? unnamed : `${name} in ${param}`;
  examination.checks.push(pass(check, `${way}: ${evidence}`));
  if (name !== undefined && param !== undefined) examination.learn(`params.${name}`, param, evidence);
  if (pagination !== undefined && (pagination !== 'auto' || isPaginationSet))
    examination.learn('pagination', pagination, evidence);
  const nextNamed = 'a page named the next one: one that names none is the last';
  if (nextSeen === true) examination.learn('next-seen', true, nextNamed);
}

function reportLonePage(search: PagingSearch, walked: Walked): void {
  const { examination, begin, limitName } = search;
  const { checks, isLearning } = examination;
  const { completion, rejection } = walked;
  const counted = `${begin.length} lead${begin.length === 1 ? '' : 's'} came on one page`;
  const isProven = completion?.kind === 'complete' && begin.length > 1;
  if (isProven && (!isLearning || completion.evidence === 'not-paged'))
    checks.push(pass(check, `one page: all ${counted}`));
  else if (rejection !== undefined) checks.push(warn(check, rejection));
  else {
    const limited = limitName === undefined ? '' : `${limitName} is honoured, but `;
    const detail = `${counted}: ${limited}no usual parameter leads to another one`;
    checks.push(warn(check, detail, hintOf(search, walked)));
  }
}

function hintOf({ examination, begin, first }: PagingSearch, walked: Walked): string {
  if (!examination.isLearning) return "'leads doctor --learn' looks for the parameters that it pages by";
  if (begin.length < 2 || endsWithProof(walked)) return 'run it again when there are more';
  const setName = 'leads config set api.params.page … (or api.params.offset, api.params.cursor)';
  const hints = first.facts && hintsOf(examination.params, first.facts);
  if (hints?.hasMore === true || (hints?.total ?? 0) > begin.length)
    return `there are more; name what it pages by: ${setName}`;
  return `if one page is all: leads config set api.pagination none; otherwise: ${setName}`;
}
