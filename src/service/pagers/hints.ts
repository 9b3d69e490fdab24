import { isObject, valueAt, type Json, membersOf, plainName, type Member } from '../../json/exact.ts';
import type { Envelope } from '../../json/page-envelope.ts';
import type { RequestParams } from './request-params.ts';
import * as names from './names.ts';
import { wholeNumberIn } from './position.ts';

/**
 * An answer without its leads, with their `count` and the id of the last one. `asked`: the requested address; `url`: the one that
 * answered, another one after a redirect.
 */
export interface PageFacts {
  readonly status: number;
  readonly asked: URL;
  readonly url: URL;
  readonly headers: Headers;
  readonly envelope: Envelope;
  readonly count: number;
  readonly lastId: string | undefined;
}

export type PaginationHints = Readonly<ReturnType<typeof hintsOf>>;

/** Reads what an answer says of its place in the list. A hint is undefined where the answer says nothing that is understood. */
export function hintsOf(
  { next: pointer, isTotalEstimate }: Pick<RequestParams, 'next' | 'isTotalEstimate'>,
  { envelope, headers: allHeaders, count }: PageFacts,
) {
  const members = describingMembers(envelope);
  const headers = readHeaders(allHeaders, count);
  const offset = readFirst(members, names.offsetNames, wholeNumber);
  const total = readFirst(members, names.totalNames, totalNumber);
  const next = pointer === 'auto' ? nextIn(members, headers.next) : pointedAt(envelope.root, pointer);
  const hasMore = readFirst(members, names.moreNames, truthNumberOrText)?.value;
  // A next page that is named goes before a flag that this is the last one.
  const isLast = isNamedNext(next) ? undefined : readFirst(members, names.lastNames, truth)?.value;
  const largerCount = readFirst(members, names.countNames, (value) => {
    const number = wholeNumber(value);
    return number !== undefined && number > count ? number : undefined;
  });
  return {
    /** Null: the answer says that there is no next page. */
    next,
    links: linksIn(allHeaders['link']),
    hasMore: hasMore ?? (isLast === undefined ? headers.hasMore : !isLast),
    page: readFirst(members, names.pageNames, wholeNumber)?.value ?? headers.page,
    pages: readFirst(members, names.pagesNames, wholeNumber)?.value ?? headers.pages,
    offset: offset?.value,
    // The query parameter has this name as a rule; CouchDB answers with `offset` and takes `skip`.
    offsetField: total?.name === 'total_rows' ? 'skip' : offset?.name,
    pageSize: readFirst(members, names.pageSizeNames, wholeNumber)?.value,
    total: isTotalEstimate ? undefined : (total?.value ?? headers.total ?? largerCount?.value),
  };
}

/** The members of the objects around the array and of what they nest, the array's own neighbours first. */
function describingMembers({ root, path }: Envelope): Member[] {
  const enter = ({ plain, value, depth }: Member): Json | undefined => {
    if (depth === 3 || !names.nestingNames.includes(plain)) return undefined;
    return Array.isArray(value) ? linksByRelation(value as readonly Json[]) : value;
  };
  return path
    .map((_, depth) => valueAt(root, path.slice(0, depth)))
    .reverse()
    .flatMap((around) => membersOf(around, enter).toSorted((a, b) => a.depth - b.depth));
}

/** `[{"rel":"next","href":"…"}]` as an object of targets by their relation. */
function linksByRelation(links: readonly Json[]): Json {
  const targets: Record<string, Json> = {};
  for (const link of links) {
    if (!isObject(link) || typeof link['rel'] !== 'string') continue;
    targets[link['rel'].toLowerCase()] ??= link['href'] ?? link['url'] ?? null;
  }
  return targets;
}

/** The value of the first of these names that `read` understands, with the member's name as the service writes it. */
function readFirst<T>(
  members: readonly Member[],
  plainNames: readonly string[],
  read: (value: Json) => T | undefined,
): { readonly name: string; readonly value: T } | undefined {
  for (const plain of plainNames) {
    for (const { name, value } of members.filter((member) => member.plain === plain)) {
      const result = read(value);
      if (result !== undefined) return { name, value: result };
    }
  }
  return undefined;
}

/** Vague names do not count where another member is null, or leads to later changes: that says that this page is the last one. */
function nextIn(
  members: readonly Member[],
  inHeaders: NextHint | null | undefined,
): NextHint | null | undefined {
  let isEnd = readFirst(members, names.deltaNames, (value) => value || undefined) !== undefined;
  for (const plain of [...names.nextNames, ...names.vagueNextNames]) {
    if (isEnd && names.vagueNextNames.includes(plain)) return null;
    for (const { name, value } of members.filter((member) => member.plain === plain)) {
      if (plain === 'offset' && wholeNumber(value) !== undefined) continue;
      const hint = nextHintOf(name, value);
      const next = hint === undefined ? tokenHintOf(name, value) : hint;
      if (next) return next;
      isEnd ||= next === null;
    }
  }
  return isEnd ? null : inHeaders;
}

function pointedAt(root: Json, pointer: readonly string[]): NextHint | null | undefined {
  const value = valueAt(root, pointer);
  return value === undefined ? undefined : nextHintOf(pointer.at(-1) ?? 'next', value);
}

export const isNamedNext = (next: NextHint | null | undefined): boolean =>
  next !== undefined && next !== null && !names.vagueNextNames.includes(next.plain);

function wholeNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'string') return wholeNumberIn(value.trim());
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Elasticsearch sends `{"value": 10000, "relation": "gte"}` for a count that it gave up: that is no total. */
function totalNumber(value: Json): number | undefined {
  if (!isObject(value)) return wholeNumber(value);
  const isExact = value['relation'] === undefined || value['relation'] === 'eq';
  return isExact ? wholeNumber(value['value']) : undefined;
}

function truthNumberOrText(value: Json): boolean | undefined {
  if (value === 1 || value === '1') return true;
  return value === 0 || value === '0' ? false : truth(value);
}

/** A number is no truth here: `last` may be the number of a page. */
function truth(value: Json): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  return text === 'true' || (text === 'false' ? false : undefined);
}

/**
 * The next page, as an answer names it. `plain`: the plain name that says what the value is, such as `nextpage`; `next` says nothing of
 * it. `field`: the exact name of the member that held the value: a parameter may be called like it. `members`: the texts and numbers
 * of an object, each for a parameter of its own; then `value` is its JSON.
 */
export interface NextHint {
  readonly plain: string;
  readonly field: string;
  readonly value: string | number;
  readonly members?: Readonly<Record<string, string | number>>;
}

/** Values that mark the end of a list in services that always send the field. */
const endMarkers: readonly Json[] = [null, false, '', 0, '0', -1, '-1', 'nil', 'null', 'false'];

/** In an object `next`, the members that hold the position, with the plain name that says the same; undefined: that of the object. */
const positionMembers: readonly (readonly [member: string, plain: string | undefined])[] = [
  ...['href', 'url', 'link'].map((member) => [member, undefined] as const),
  ...['cursor', 'after', 'token', 'starting_after'].map((member) => [member, 'nextcursor'] as const),
  ...['page', 'number'].map((member) => [member, 'nextpage'] as const),
  ...['offset', 'skip', 'start'].map((member) => [member, 'nextoffset'] as const),
];

/** Null: the field says that there is no next page. Undefined: it does not say anything that is understood. */
export function nextHintOf(field: string, value: Json): NextHint | null | undefined {
  if (endMarkers.includes(value)) return null;
  const plainField = plainName(field);
  if (typeof value === 'string' || typeof value === 'number') return { plain: plainField, field, value };
  if (!isObject(value)) return undefined;
  let isEnd = false;
  for (const [member, plain] of positionMembers) {
    const inner = value[member];
    // Another member may still lead further: `{"link": null, "after": "2"}`.
    isEnd ||= inner === null;
    const isNumber = plain === 'nextpage' || plain === 'nextoffset';
    const isPosition = isNumber
      ? wholeNumber(inner) !== undefined
      : typeof inner === 'string' && inner !== '';
    if (!isPosition) continue;
    const position = inner as string | number;
    return plain === undefined
      ? { plain: plainField, field, value: position }
      : { plain, field: member, value: position };
  }
  return isEnd ? null : undefined;
}

/** An object that is itself the mark of the next page (DynamoDB, Elasticsearch): sent as JSON, or as a parameter for each member. */
function tokenHintOf(field: string, token: Json): NextHint | undefined {
  if (typeof token !== 'object' || token === null || Object.keys(token).length === 0) return undefined;
  const hint = { plain: plainName(field), field, value: JSON.stringify(token) };
  const isFlat = Object.values(token).every((value) => ['string', 'number'].includes(typeof value));
  return isFlat && isObject(token) ? { ...hint, members: token as Record<string, string | number> } : hint;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** `count`: the leads of the answer. A range of another length describes something else than the page. */
function readHeaders(headers: Headers, count: number) {
  const [name = '', field = ''] =
    Object.entries(names.nextHeaders).find(([header]) => headers[header] !== undefined) ?? [];
  const range = contentRange(headers);
  const isEnd = range?.count === count && range.end !== undefined && range.end === range.total;
  const total = headers['x-total-count'] ?? headers['x-total'] ?? headers['x-wp-total'];
  return {
    next: name === '' ? undefined : nextHintOf(field, headers[name]?.trim() ?? ''),
    hasMore: isEnd ? false : undefined,
    page: wholeNumber(headers['x-page']),
    pages: wholeNumber(headers['x-total-pages'] ?? headers['x-wp-totalpages']),
    total: wholeNumber(total) ?? range?.total,
  };
}

/**
 * The range of an answer: places up to the end of its last record, its length, and the total. `items 0-24/319` (RFC 9110,
 * section 14.4), or without the unit (PostgREST); `*` is an unknown total. Undefined for a range of bytes.
 */
export function contentRange(headers: Headers) {
  const range = /^\s*(?:(?!bytes\b)[\w-]+\s+)?(?:(\d{1,15})-(\d{1,15})|\*)\s*\/\s*(\d{1,15}|\*)\s*$/i;
  const [all, from, to, total] = range.exec(headers['content-range'] ?? '') ?? [];
  if (all === undefined) return undefined;
  const end = to === undefined ? undefined : Number(to) + 1;
  return { end, count: end === undefined ? 0 : end - Number(from), total: wholeNumber(total) };
}

/** A text in quotation marks may hold anything, as may what stands between `<` and `>`. */
const linkValue = /<([^>]*)>((?:\s*;\s*[^\s=,;"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,;"]*))?)*)/g;
const linkParameter = /;\s*([^\s=,;"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

type Links = ReadonlyMap<string, string>;

/** Reads the targets of a `Link` header by their relation (RFC 8288); undefined for an answer without it. */
export function linksIn(header: string | undefined): Links | undefined {
  if (header === undefined) return undefined;
  const links = new Map<string, string>();
  for (const [, target = '', parameters = ''] of header.matchAll(linkValue)) {
    const rel = [...parameters.matchAll(linkParameter)].find(([, name]) => name?.toLowerCase() === 'rel');
    for (const name of (rel?.[2] ?? rel?.[3] ?? '').toLowerCase().split(/\s+/))
      if (name !== '' && !links.has(name)) links.set(name, target.trim());
  }
  return links;
}
