import type { Dialect } from '../../config/dialect.ts';
import { hintsOf, linksIn } from '../../service/pagers/hints.ts';
import { fewest } from '../../service/pagers/pager.ts';
import { cursorParams, numberParams } from '../../service/pagers/names.ts';
import { provenUpTo } from '../../service/listing-types.ts';
import { pass, warn } from '../check-result.ts';
import { learn, type Examination, type SeenPage, type Walked } from './asker.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';
import { keysOf } from './seen-leads.ts';

/** The facts with which the search for pages begins. */
interface PagingSearch {
  readonly examination: Examination;
  readonly limit: NameFinding;
  /** The list without any parameter. */
  readonly first: SeenPage;
  /** The keys of the longest first page. */
  readonly front: readonly string[];
}

/** Small pages show how a list goes on that fits on one large page. */
const smallSize = 5;

/**
 * Finds out how pages follow each other: by a walk as an export makes it, and if that finds no second page by walks with the names
 * that services use. Gives the walk of the export.
 */
export async function findPaging(
  examination: Examination,
  limit: NameFinding,
  first: SeenPage,
): Promise<Walked> {
  const { asker, isLearning } = examination;
  const walked = await asker.walk({});
  const [page = []] = walked.pages;
  const front = keysOf(page.length < first.leads.length ? first.leads : page);
  const search = { examination, limit, first, front };
  const size = limit.effect === 'honoured' ? Math.min(smallSize, Math.floor((front.length - 1) / 2)) : 0;
  // Leads by their id or time are a way around a parameter that has another name.
  const isFound = walked.pages.length > 1 && !(isLearning && walked.next?.style === 'before');
  // An export has tried the usual names one by one.
  const isOver = size < 1 && (endsWithProof(walked) || asker.isStrict);
  if (!isFound && isLearning && front.length > 1 && !isOver) {
    const pageSize = size > 0 ? size : undefined;
    for await (const dialect of dialectsFor(search, walked, size)) {
      const tried = await asker.walk(dialect, pageSize);
      if (!followsFront(front, tried)) continue;
      const learnt = { ...dialect, ...dialectOf(search, tried) };
      const whole = pageSize === undefined ? tried : await asker.walk(learnt);
      if (!bringsFront(front, whole)) continue;
      reportPages(search, tried, learnt);
      return whole;
    }
  }
  if (walked.pages.length > 1) reportPages(search, walked, dialectOf(search, walked));
  else reportLonePage(search, walked);
  return walked;
}

/** Whether the two pages of a walk are the beginning of the list. Other leads may have arrived before them. */
export function followsFront(front: readonly string[], { pages }: Pick<Walked, 'pages'>): boolean {
  const [first = [], second] = pages.map((page) => keysOf(page).filter((key) => front.includes(key)));
  if (second === undefined || first.length === 0) return false;
  const isNext = second.length > 0 || first.length === front.length;
  return isNext && [...first, ...second].every((key, i) => key === front[i]);
}

/** Whether a walk brought the beginning of the list, as far as it went. */
function bringsFront(front: readonly string[], { pages, completion, rejection }: Walked): boolean {
  const keys = new Set(keysOf(pages.flat()));
  const expected = completion === undefined ? front.slice(0, keys.size) : front;
  return rejection === undefined && expected.every((key) => keys.has(key));
}

/** Something else proves the end than that no parameter changed the answer. */
const endsWithProof = ({ completion }: Walked): boolean =>
  completion?.kind === 'complete' && !['not-paged', 'reaches-back'].includes(completion.evidence);

/** Dialects in which another page may follow, the likeliest first; a walk has to prove each. */
async function* dialectsFor(search: PagingSearch, walked: Walked, size: number): AsyncGenerator<Dialect> {
  const { examination, limit, first, front } = search;
  const { asker } = examination;
  const small = size > 0 ? await asker.ask({ [limit.name]: String(size) }) : first;
  const { leads, facts } = small === undefined || small instanceof Error ? first : small;
  const hints = facts && hintsOf(asker.params, facts);
  const next = hints?.next?.value;
  const isLinked = linksIn(facts?.headers['link'])?.has('next') === true;
  const namesMore = next !== undefined || isLinked || hints?.hasMore === true;
  if (namesMore && walked.pages.length < 2) yield {};
  if (isLinked || (typeof next === 'string' && /^(https?:|\/|\?)/.test(next))) return;
  if (typeof next === 'string') {
    const cursor = await findPosition(search, cursorParams, [leadsTo(front, next, [leads.length])]);
    if (cursor !== undefined) yield { pagination: 'cursor', params: { cursor } };
    return;
  }
  const places = front.slice(1).map((_, i) => i + 1);
  // On pages of one lead, number 4 holds the fourth lead, or the fifth where pages count from 0.
  const numbers = places
    .filter((place) => place % 2 === 1)
    .map((place) => leadsTo(front, String(place + 1), [place, place + 1]));
  const pages = limit.effect === 'honoured' ? numbers : [leadsTo(front, '2', [front.length])];
  const page = await findPosition(search, [asker.params.page, ...numberParams.page.usual], pages);
  if (page !== undefined) yield { pagination: 'page', params: { page } };
  if (page !== undefined) yield { pagination: 'auto', params: { page } };
  const offsets = places.map((place) => leadsTo(front, String(place), [place]));
  const names = [asker.params.offset ?? 'offset', ...numberParams.offset.usual];
  const offset = await findPosition(search, names, offsets);
  if (offset !== undefined) yield { pagination: 'offset', params: { offset } };
}

/** The name that leads to another place of the list. */
async function findPosition(
  { examination: { asker }, limit, first }: PagingSearch,
  names: readonly string[],
  trials: readonly Trial[],
): Promise<string | undefined> {
  const isSized = limit.effect === 'honoured';
  // A name that goes with the one of the limit is likelier: $skip beside $limit.
  const [prefix] = isSized ? (/^([_$]|\w+\[)/.exec(limit.name) ?? []) : [];
  const isLikely = (name: string): boolean => prefix !== undefined && name.startsWith(prefix);
  const sorted = [...new Set(names)].toSorted((a, b) => Number(isLikely(b)) - Number(isLikely(a)));
  const query = isSized ? { [limit.name]: '1' } : {};
  const without = isSized ? first.leads.slice(0, 1) : first.leads;
  const { effect, name } = await findName({ asker, query, without, trials }, sorted);
  return effect === 'honoured' ? name : undefined;
}

/** A value that leads to one of these places; after the known leads, any other lead may stand. */
function leadsTo(front: readonly string[], text: string, places: readonly number[]): Trial {
  const keys = places.map((place) => front[place]);
  return {
    ...{ text, expected: [], wanted: 'another page' },
    fits: ([lead]) => lead !== undefined && keys.includes(front.includes(lead.key) ? lead.key : undefined),
  };
}

/** The dialect in which an export goes on as this walk did. */
function dialectOf({ limit, examination: { asker } }: PagingSearch, { next, pagesBefore }: Walked): Dialect {
  if (next === undefined || next.style === 'start') return {};
  if (next.style === 'url')
    return { pagination: asker.headers['link'] === undefined ? 'auto' : 'link', nextSeen: true };
  const [param, ...others] = next.style === 'before' ? [...next.ids, ...next.times] : [next.param];
  // A walk that sends several names together finds out by itself which name counts.
  if (param === undefined || others.length > 0) return {};
  const dialect = { pagination: next.style, params: { [next.style]: param } };
  if (next.style === 'cursor') return { ...dialect, nextSeen: true };
  if (next.style !== 'page') return dialect;
  // Pages that overlap have numbers of their own.
  const base = next.window === undefined ? next.page - pagesBefore : next.base;
  // Without a size in force, each walk has to find out whether a short list has a second page.
  return base === 1 && limit.effect === 'honoured' ? dialect : { ...dialect, pagination: 'auto' };
}

/** Reports a walk whose pages follow each other in this dialect. */
function reportPages({ examination }: PagingSearch, { pages }: Walked, dialect: Dialect): void {
  const { asker, checks } = examination;
  const isPaginationSet = (asker.inForce.pagination ?? 'auto') !== 'auto';
  asker.set(dialect);
  const { params = {}, pagination, nextSeen } = dialect;
  const [first = [], second = []] = pages;
  const evidence = `two pages followed each other, of ${first.length} and ${second.length} leads`;
  const [[name, param] = []] = Object.entries(params);
  const unnamed = nextSeen === true ? 'the service names the next page' : 'by the last lead of a page';
  const how = name === undefined ? unnamed : `${name} in ${param}`;
  checks.push(pass('dialect.pagination', `${how}: ${evidence}`));
  if (name !== undefined && param !== undefined) learn(examination, `params.${name}`, param, evidence);
  // An export finds it without a setting, unless there is another one.
  if (pagination !== undefined && (pagination !== 'auto' || isPaginationSet))
    learn(examination, 'pagination', pagination, evidence);
  if (pagination === 'auto' && params.page !== undefined) learnUncut(examination, first.length);
  const nextNamed = 'a page named the next one: one that names none is the last';
  if (nextSeen === true) learn(examination, 'next-seen', true, nextNamed);
}

/** A service that gives so many leads at once does not cut shorter answers. */
function learnUncut(examination: Examination, count: number): void {
  if (count <= fewest) return;
  learn(examination, 'proven-up-to', count - 1, `${count} leads came in one answer, so fewer are not cut`);
}

function reportLonePage(search: PagingSearch, walked: Walked): void {
  const { examination, front, limit } = search;
  const { checks, isLearning } = examination;
  const name = 'dialect.pagination';
  const { completion, rejection } = walked;
  const upTo = provenUpTo(completion);
  const came = `${front.length} lead${front.length === 1 ? '' : 's'} came on one page`;
  if (upTo !== undefined) {
    const detail = `one page: proven for up to ${upTo} leads`;
    learn(examination, 'proven-up-to', upTo, detail);
    checks.push(pass(name, detail));
  } else if (!isLearning && completion?.kind === 'complete' && front.length > 1)
    checks.push(pass(name, `one page: all ${came}`));
  else if (rejection !== undefined) checks.push(warn(name, rejection));
  else {
    const isLimited = limit.effect === 'honoured' ? `${limit.name} is honoured, but ` : '';
    const detail = `${came}: ${isLimited}no usual parameter leads to another one`;
    checks.push(warn(name, detail, hintOf(search, walked)));
  }
  if (completion?.kind === 'unproven' && completion.reason.kind === 'page-may-be-cut')
    learnUncut(examination, front.length);
}

function hintOf({ examination, front, first }: PagingSearch, walked: Walked): string {
  const { isLearning, asker } = examination;
  if (!isLearning) return "'leads doctor --learn' looks for the parameters that it pages by";
  if (front.length < 2 || endsWithProof(walked)) return 'run it again when there are more';
  const setName = 'leads config set api.params.page … (or api.params.offset, api.params.cursor)';
  const hints = first.facts && hintsOf(asker.params, first.facts);
  if (hints?.hasMore === true || (hints?.total ?? 0) > front.length)
    return `there are more; name what it pages by: ${setName}`;
  return `if one page is all: leads config set api.pagination none; otherwise: ${setName}`;
}
