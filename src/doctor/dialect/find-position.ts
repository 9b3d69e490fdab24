import type { Dialect } from '../../config/dialect.ts';
import { formatPointer, isObject, type Json } from '../../json/exact.ts';
import { isUsualCap } from '../../service/listing/walk-state.ts';
import type { NextPage } from '../../service/pagination/read-next-page.ts';
import {
  linksIn,
  type NextHint,
  nextHintOf,
  type PaginationHints,
} from '../../service/pagination/pagination-hints.ts';
import type { Position } from '../../service/pagination/position.ts';
import type { PagingAdvice } from '../problems.ts';
import type { DialectAsker } from './limited-requests.ts';
import {
  faultOfWalk,
  findCursorName,
  findIdName,
  findOffsetName,
  findPageName,
  type PositionSearch,
  readNext,
} from './position-names.ts';

export type PositionFinding =
  | {
      readonly kind: 'found';
      /** What has to be set for it. */
      readonly dialect: Dialect;
      /** How pages follow each other, for people. */
      readonly style: string;
      readonly evidence: string;
    }
  /** The service ignores the limit and every position. */
  | { readonly kind: 'none'; readonly evidence: string }
  /** It cannot be known from outside. */
  | { readonly kind: 'undecided'; readonly why: string; readonly advice: PagingAdvice };

/** A walk that went wrong is repeated as long as there are so many requests left. */
const enoughToRepeat = 10;

/** A way of paging that a walk over two pages has to prove. */
interface Hypothesis {
  readonly dialect: Dialect;
  readonly style: string;
  readonly evidence: string;
}

/** Finds out how pages follow each other, from what an answer says, and by trying parameters where it says nothing. */
export async function findPosition(search: PositionSearch): Promise<PositionFinding> {
  const { asker, page } = search;
  const read = readNext(asker.params, page);
  if (read === undefined) return undecided('the answer is too large to be read whole', 'affirm-one-page');
  const { hints, next } = read;
  const tried: string[] = [];
  for await (const hypothesis of hypothesesFor(search, next, hints)) {
    const walk = async (): Promise<string | undefined> =>
      faultOfWalk(search.front, await asker.walk(asker.with({ ...hypothesis.dialect }), search.size));
    let fault = await walk();
    // A page may be an odd one by chance: leads that arrive, or one that comes twice.
    if (fault !== undefined && asker.left >= enoughToRepeat) fault = await walk();
    if (fault === undefined) return { kind: 'found', ...hypothesis };
    tried.push(`${hypothesis.style}: ${fault}`);
  }
  return withoutPosition(search, hints, next, tried);
}

async function* hypothesesFor(
  search: PositionSearch,
  next: NextPage,
  hints: PaginationHints,
): AsyncGenerator<Hypothesis> {
  const { page, asker } = search;
  const pointer = hints.next ? pointerOf(page.facts?.envelope.root ?? null, hints.next) : undefined;
  const named = pointer === undefined ? {} : { next: pointer };
  if (next.kind === 'next' && next.position.style === 'url') {
    const isLink = linksIn(page.facts?.headers['link'])?.has('next') === true;
    yield isLink
      ? {
          dialect: { pagination: 'link' },
          style: 'Link header',
          evidence: 'Link: rel="next" led to the second page',
        }
      : {
          dialect: { pagination: 'auto', ...named },
          style: 'next URL in the body',
          evidence: `the URL at ${pointer ?? 'next'} led to the second page`,
        };
    return;
  }
  if (next.kind === 'next' && next.position.style === 'cursor') {
    const { param, cursor } = next.position;
    const name = (await findCursorName(search, cursor, param)) ?? param;
    yield {
      dialect: { pagination: 'cursor', params: { cursor: name }, ...named },
      style: `cursor in ${name}`,
      evidence: `${name} with the cursor at ${pointer ?? 'next'} led to the second page`,
    };
    return;
  }
  if (next.kind === 'behind-id') {
    const name = await findIdName(search);
    if (name !== undefined) yield byId(name);
  }
  const isOffset = next.kind === 'next' && next.position.style === 'offset';
  const ways = isOffset ? [offsetWays, pageWays] : [pageWays, offsetWays];
  for (const way of ways) yield* way(search, next);
  if (asker.left > 4 && next.kind === 'silent') {
    const name = await findIdName(search);
    if (name !== undefined) yield byId(name);
  }
}

const byId = (name: string): Hypothesis => ({
  dialect: { pagination: 'cursor', params: { cursor: name } },
  style: `last id in ${name}`,
  evidence: `${name} with the last id led to the second page`,
});

async function* pageWays(search: PositionSearch, next: NextPage): AsyncGenerator<Hypothesis> {
  const hinted = next.kind === 'next' && next.position.style === 'page' ? next.position.param : undefined;
  const name = await findPageName(search, hinted);
  if (name === undefined) return;
  const evidence = `${name}=2 brought the second page`;
  yield {
    dialect: { pagination: 'page', params: { page: name } },
    style: `page number in ${name}`,
    evidence,
  };
  yield {
    dialect: { pagination: 'auto', params: { page: name } },
    style: `page number in ${name}, counted from 0`,
    evidence: `${name}=1 brought the second page`,
  };
}

async function* offsetWays(search: PositionSearch, next: NextPage): AsyncGenerator<Hypothesis> {
  const hinted = next.kind === 'next' && next.position.style === 'offset' ? next.position.param : undefined;
  const name = await findOffsetName(search, hinted);
  if (name === undefined) return;
  yield {
    dialect: { pagination: 'offset', params: { offset: name } },
    style: `offset in ${name}`,
    evidence: `${name} moved the front of the list by as many leads`,
  };
}

function withoutPosition(
  { asker, found, page }: PositionSearch,
  hints: PaginationHints,
  next: NextPage,
  tried: readonly string[],
): PositionFinding {
  const { limit, reaction } = found;
  if (asker.left < 2) return undecided('no request was left to find it', 'repeat');
  if (tried.length > 0) return undecided(tried.join('; '), 'name-parameter');
  const isMore = hints.hasMore === true || (hints.total ?? 0) > page.count;
  if (isMore)
    return undecided('there are more leads, and no usual parameter leads to them', 'name-parameter');
  if (next.kind === 'end' || (asker.isPositionUnclear && reaction === 'ignores'))
    return undecided(
      `all ${page.count} leads fit on one page, so no further one shows`,
      'more-leads-or-affirm',
    );
  if (limit.kind === 'ignored' && reaction === 'ignores' && next.kind !== 'next') {
    const changed = 'no usual limit, page, offset or cursor changed anything';
    const seen = `${changed}: ${page.count} leads came each time`;
    return isUsualCap(page.count)
      ? undecided(`${seen}, which may be all, or a page of the usual size`, 'affirm-one-page')
      : { kind: 'none', evidence: seen };
  }
  return undecided(
    limit.kind === 'honoured'
      ? `${limit.name} is honoured, and no usual position: either there is another parameter, or one page is all`
      : 'either one page is all, or its parameters have unusual names',
    'affirm-one-page',
  );
}

const undecided = (why: string, advice: PagingAdvice): PositionFinding => ({
  kind: 'undecided',
  why,
  advice,
});

/** Walks over two pages in the dialect in force, as an export would. */
export async function tryPosition(
  asker: DialectAsker,
  front: readonly string[],
  size: number | undefined,
): Promise<PositionFinding> {
  const { dialect } = asker;
  const walked = await asker.walk(dialect, size);
  if (walked.kind === 'pages' && walked.second.length === 0 && walked.first.length >= front.length) {
    return {
      kind: 'found',
      dialect,
      style: 'one page',
      evidence: `all ${walked.first.length} leads came at once`,
    };
  }
  const fault = faultOfWalk(front, walked);
  if (fault !== undefined) return undecided(fault, 'learn');
  const style = walked.kind === 'pages' && walked.next !== undefined ? styleText(walked.next) : 'pages';
  return { kind: 'found', dialect, style, evidence: 'two pages followed each other' };
}

function styleText(position: Position): string {
  switch (position.style) {
    case 'start':
      return 'pages';
    case 'url':
      return 'next URL';
    case 'cursor':
      return `${position.is === 'id' ? 'last id' : 'cursor'} in ${position.param}`;
    case 'page':
      return `page number in ${position.param}`;
    case 'offset':
      return `offset in ${position.param}`;
  }
}

/** Levels of objects that are looked into. */
const deepest = 4;

/** The JSON Pointer to what names the next page; undefined where it is not found in exactly one place. */
function pointerOf(root: Json, hint: NextHint): string | undefined {
  const places: string[][] = [];
  const look = (value: Json, path: readonly string[]): void => {
    if (!isObject(value) || path.length >= deepest) return;
    for (const [name, member] of Object.entries(value)) {
      const found = nextHintOf(name, member);
      if (found?.value === hint.value && found.name === hint.name && !isObject(member))
        places.push([...path, name]);
      look(member, [...path, name]);
    }
  };
  look(root, []);
  const [only] = places;
  return places.length === 1 && only !== undefined ? formatPointer(only) : undefined;
}
