import type { Dialect } from '../../config/dialect.ts';
import { hintsOf, linksIn, type PaginationHints } from '../../service/pagers/hints.ts';
import { fewest } from '../../service/pagers/lone-page.ts';
import { cursorParams, numberParams } from '../../service/pagers/names.ts';
import { provenUpTo } from '../../service/run-memory.ts';
import { pass, warn } from '../check-result.ts';
import { type Examination, learn, type SeenPage, type Walked } from './asker.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';
import { keysOf } from './seen-leads.ts';

/** What is known of the list when it is asked how it pages. */
interface PagingSearch {
  readonly examination: Examination;
  readonly limit: NameFinding;
  /** The list without any parameter. */
  readonly first: SeenPage;
  /** A walk as an export makes it. */
  readonly walked: Walked;
  /** The longest known beginning of the list, by the keys of its leads. */
  readonly front: readonly string[];
}

/** Small pages show how a list goes on that fits on one large page. */
const smallSize = 5;

/** Finds out how pages follow each other: as the walk finds it itself, or by a parameter with another name. Walks so. */
export async function findPaging(search: PagingSearch): Promise<Walked> {
  const { examination, limit, first, walked, front } = search;
  const { asker, isLearning } = examination;
  // Leads by their id or time are a way around a parameter that has another name.
  const isWayAround = isLearning && walked.next?.style === 'before';
  if (walked.pages.length > 1 && !isWayAround) return reportStyle(search, walked);
  const size = limit.effect === 'honoured' ? Math.min(smallSize, Math.floor((front.length - 1) / 2)) : 0;
  const pageSize = size > 0 ? size : undefined;
  // The walk has tried the usual names one by one.
  const isOver = pageSize === undefined && (endsWithProof(walked) || asker.isStrict);
  if (!isLearning || front.length < 2 || isOver) return reportLonePage(search, undefined);
  const small = pageSize === undefined ? first : await asker.ask({ [limit.name]: String(size) });
  const page = small.kind === 'page' ? small : first;
  const hints = page.facts && hintsOf(asker.params, page.facts);
  for await (const dialect of dialectsFor(search, page, hints)) {
    const tried = await asker.walk(asker.with(dialect), pageSize);
    if (!followsFront(front, tried)) continue;
    const learnt = asker.with({ ...dialect, ...dialectOf(search, tried) });
    const whole = pageSize === undefined ? tried : await asker.walk(learnt);
    if (whole.rejection === undefined && bringsFront(front, whole)) return reportStyle(search, tried, whole);
  }
  return walked.pages.length > 1 ? reportStyle(search, walked) : reportLonePage(search, hints);
}

/** Whether the two pages of a walk are the beginning of the list. Other leads may have arrived before them. */
export function followsFront(front: readonly string[], { pages }: Pick<Walked, 'pages'>): boolean {
  const [first = [], second] = pages.map((page) => keysOf(page).filter((key) => front.includes(key)));
  if (second === undefined || first.length === 0) return false;
  const isNext = second.length > 0 || first.length === front.length;
  return isNext && [...first, ...second].every((key, i) => key === front[i]);
}

/** Whether a walk brought the beginning of the list, as far as it went. */
function bringsFront(front: readonly string[], { pages, completion }: Walked): boolean {
  const keys = new Set(keysOf(pages.flat()));
  return front.slice(0, completion === undefined ? keys.size : undefined).every((key) => keys.has(key));
}

/** An end that something else proves than that no parameter changed the answer. */
const endsWithProof = ({ completion }: Walked): boolean =>
  completion?.kind === 'complete' && !['not-paged', 'reaches-back'].includes(completion.evidence);

/** What may have to be set for another page to follow, the likeliest first; a walk has to show it. */
async function* dialectsFor(
  search: PagingSearch,
  sample: SeenPage,
  hints: PaginationHints | undefined,
): AsyncGenerator<Dialect> {
  const next = hints?.next?.value;
  const isLinked = linksIn(sample.facts?.headers['link'])?.has('next') === true;
  const namesMore = next !== undefined || isLinked || hints?.hasMore === true;
  if (namesMore && search.walked.pages.length < 2) yield {};
  if (isLinked || (typeof next === 'string' && /^(https?:|\/|\?)/.test(next))) return;
  if (next !== undefined) {
    const cursor = await findPosition(search, cursorParams, cursorTrials(search, [sample, search.first]));
    if (cursor !== undefined) yield { pagination: 'cursor', params: { cursor } };
    if (typeof next === 'string') return;
  }
  const { front, limit, examination } = search;
  const { params } = examination.asker;
  const places = Array.from({ length: front.length - 1 }, (_, i) => i + 1);
  // On pages of one lead, number 4 holds the fourth lead, or the fifth where pages count from 0.
  const odd = places.filter((place) => place % 2 === 1);
  const numbers = odd.map((place) => leadsTo(search, String(place + 1), [place, place + 1]));
  const second = [leadsTo(search, '2', [front.length])];
  const pageTrials = limit.effect === 'honoured' ? numbers : second;
  const page = await findPosition(search, [params.page, ...numberParams.page.usual], pageTrials);
  if (page !== undefined) yield { pagination: 'page', params: { page } };
  if (page !== undefined) yield { pagination: 'auto', params: { page } };
  const names = [params.offset ?? 'offset', ...numberParams.offset.usual];
  const offsets = places.map((place) => leadsTo(search, String(place), [place]));
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

/** A value that leads to one of these places; behind the known leads, any other lead may stand. */
function leadsTo({ front }: PagingSearch, text: string, places: readonly number[]): Trial {
  const keys = places.map((place) => front[place]);
  return {
    ...{ text, expected: [], wanted: 'another page' },
    fits: ([lead]) => lead !== undefined && keys.includes(front.includes(lead.key) ? lead.key : undefined),
  };
}

/** Cursors of pages that end in different places tell the names apart. */
function cursorTrials(search: PagingSearch, pages: readonly SeenPage[]): Trial[] {
  const { asker } = search.examination;
  const trials = new Map<string, Trial>();
  for (const { facts, leads } of pages) {
    const cursor = facts && hintsOf(asker.params, facts).next?.value;
    if (cursor !== undefined) trials.set(String(cursor), leadsTo(search, String(cursor), [leads.length]));
  }
  return [...trials.values()];
}

/** What has to be set for an export to go on as this walk did. */
function dialectOf({ limit, examination: { asker } }: PagingSearch, { next, pagesBefore }: Walked): Dialect {
  switch (next?.style) {
    case 'url':
      return { pagination: asker.headers['link'] === undefined ? 'auto' : 'link', nextSeen: true };
    case 'cursor':
      return { pagination: 'cursor', params: { cursor: next.param }, nextSeen: true };
    case 'offset':
      return { pagination: 'offset', params: { offset: next.param } };
    case 'page': {
      // Pages that overlap have numbers of their own.
      const from = next.window === undefined ? next.page - pagesBefore : next.base;
      // Without a size in force, the walk itself finds out whether a short list has a second page.
      const isPlain = from === 1 && limit.effect === 'honoured';
      return { pagination: isPlain ? 'page' : 'auto', params: { page: next.param } };
    }
    case 'before': {
      // Of several names that were sent together, each walk finds out anew which one counts.
      const [before, ...others] = [...next.ids, ...next.times];
      return before === undefined || others.length > 0 ? {} : { pagination: 'before', params: { before } };
    }
    default:
      return {};
  }
}

const styles: Readonly<Record<string, string>> = {
  page: 'page number in',
  offset: 'offset in',
  cursor: 'cursor in',
  before: 'last lead in',
};

/** `tried` shows how pages follow each other, `whole` is a walk that does so as an export will. */
function reportStyle(search: PagingSearch, tried: Walked, whole = tried): Walked {
  const { examination } = search;
  const dialect = dialectOf(search, tried);
  examination.asker.set(dialect);
  const { params = {}, pagination, nextSeen } = dialect;
  const [first = [], second = []] = tried.pages;
  const evidence = `two pages followed each other, of ${first.length} and ${second.length} leads`;
  const named = Object.entries(params).map(([name, value]) => `${styles[name]} ${value}`);
  const unnamed = nextSeen === true ? 'the service names the next page' : 'by the last lead of a page';
  examination.checks.push(pass('dialect.pagination', `${named.join('') || unnamed}: ${evidence}`));
  for (const [name, value] of Object.entries(params)) learn(examination, `params.${name}`, value, evidence);
  // What is found without being told needs no setting, unless there is another one.
  if (pagination !== 'auto' || (examination.inForce.pagination ?? 'auto') !== 'auto')
    learn(examination, 'pagination', pagination, evidence);
  if (pagination === 'auto' && params.page !== undefined) learnUncut(examination, first.length);
  const nextNamed = 'a page named the next one: one that names none is the last';
  learn(examination, 'next-seen', nextSeen, nextNamed);
  return whole;
}

/** Where an answer holds so many leads, shorter ones are not cut. */
function learnUncut(examination: Examination, count: number): void {
  if (count <= fewest) return;
  learn(examination, 'proven-up-to', count - 1, `${count} leads came in one answer, so fewer are not cut`);
}

function reportLonePage(search: PagingSearch, hints: PaginationHints | undefined): Walked {
  const { walked, examination, front, limit } = search;
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
  else if (rejection !== undefined) checks.push(warn(name, rejection.error));
  else {
    const isLimited = limit.effect === 'honoured' ? `${limit.name} is honoured, but ` : '';
    const hint = hintOf(search, hints);
    checks.push(warn(name, `${came}: ${isLimited}no usual parameter leads to another one`, hint));
  }
  if (completion?.kind === 'unproven' && completion.reason.kind === 'page-may-be-cut')
    learnUncut(examination, front.length);
  return walked;
}

/** What helps where no second page is known. */
function hintOf({ walked, examination, front }: PagingSearch, hints: PaginationHints | undefined): string {
  if (!examination.isLearning) return "'leads doctor --learn' looks for the parameters that it pages by";
  if (examination.asker.left < 2) return 'run it again: no request was left';
  if (front.length < 2 || endsWithProof(walked)) return 'run it again when there are more';
  const setName = 'leads config set api.params.page … (or api.params.offset, api.params.cursor)';
  if (hints?.hasMore === true || (hints?.total ?? 0) > front.length)
    return `there are more; name what it pages by: ${setName}`;
  return `if one page is all: leads config set api.pagination none; otherwise: ${setName}`;
}
