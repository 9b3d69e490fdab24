import { isObject, type Json } from '../../json/exact.ts';
import type { Envelope } from '../../json/page-scan.ts';
import { failureIn } from '../client/failures.ts';
import type { PartialReason, UnprovenReason } from '../problems.ts';
import { contentRange, linksIn, nextHintOf, type PageFacts } from './hints.ts';
import { fewest } from './pager.ts';
import type { RequestParams } from './request-params.ts';
import { nextNames, plainName } from './names.ts';

/** A page with what its answer says beside the leads. */
interface ReadPage {
  readonly params: RequestParams;
  readonly facts: PageFacts;
  /** Different leads met; undefined where a total may count others, too. */
  readonly met: number | undefined;
  /** The service was seen to name a next page where there is one: only what is no mark of the page itself counts. */
  readonly isNextMissing?: boolean;
}

/** A sign that leads may be missing, and where it was seen. */
type Row<Reason = UnprovenReason> = readonly [source: string, read: (page: ReadPage) => Reason | undefined];

/** The first sign of an answer that is not all of what was asked for, as the answer says itself; on any page. */
export const partialAnswer = (page: ReadPage): PartialReason | undefined => firstOf(saidToBePartial, page);

/** The first sign that leads are behind a page that names no next page which the walk could read. */
export const unreadEvidence = (page: ReadPage): UnprovenReason | undefined => firstOf(unreadOfLonePage, page);

/**
 * A failure that an answer tells beside leads. What the first answer says as well is none, but for the flags that mean nothing
 * else.
 */
export function failedAnswer(
  { envelope, asked, count }: PageFacts,
  first: PageFacts,
): UnprovenReason | undefined {
  const isFirst = first.envelope === envelope;
  const usual = isFirst && isObject(envelope.root) ? withoutFlags(envelope.root) : first.envelope.root;
  const failure = failureIn(envelope.root, { isEmpty: count === 0, first: usual, asked });
  return failure && { kind: 'failed-answer', text: failure.text };
}

const withoutFlags = (root: { readonly [key: string]: Json }): Json =>
  Object.fromEntries(
    Object.entries(root).filter(([name]) => !/^(success|succeeded|ok|iserror)$/.test(plainName(name))),
  );

function firstOf<Reason>(rows: readonly Row<Reason>[], page: ReadPage): Reason | undefined {
  for (const [, read] of rows) {
    const reason = read(page);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const isFlagged = (value: Json): boolean => value === true || value === 'true';
const isFilled = (value: Json): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

const partial =
  (name: RegExp, holds: (value: Json) => boolean) =>
  ({ facts }: ReadPage): PartialReason | undefined => {
    const found = membersOf(facts).find((member) => name.test(member.plain) && holds(member.value));
    return found && { kind: 'partial-answer', sign: found.place };
  };

const saidToBePartial: readonly Row<PartialReason>[] = [
  ['GitHub: search', partial(/^incompleteresults?$/, isFlagged)],
  ['Elasticsearch: shards', partial(/^shards$/, (value) => isObject(value) && Number(value['failed']) > 0)],
  ['Elasticsearch: time-out', partial(/^(timedout|terminatedearly)$/, isFlagged)],
  ['GraphQL: errors beside data', partial(/^errors$/, isFilled)],
  [
    'Google APIs: partial success',
    partial(/^unreachable$/, (value) => Array.isArray(value) && value.length > 0),
  ],
  ['OpenSearch, gateways', partial(/^(ispartial|partial|partialresults?)$/, isFlagged)],
  ['S3 and others', partial(/^(truncated|resultstruncated|limitreached|limitexceeded)$/, isFlagged)],
  [
    'RFC 9110, section 15.3.7: 206',
    ({ facts: { status, headers, count } }) => {
      if (status !== 206) return undefined;
      const range = contentRange(headers);
      const isFitting = range?.end !== undefined && range.count === count;
      return isFitting ? undefined : { kind: 'range-does-not-fit', range: headers['content-range'], count };
    },
  ],
];

/** Objects that describe pages, beside the array of leads or nested in each other. */
const descriptive =
  /meta|pag|link|cursor|scroll|response|result|search|list|hits|total|info|nav|next|range|data|query/;
const deepest = 4;

interface Member {
  readonly name: string;
  readonly plain: string;
  readonly place: string;
  readonly value: Json;
}

/** Every sign is looked for in the same members. */
const membersRead = new WeakMap<Envelope, readonly Member[]>();

/** What an answer says beside its leads, whose array is empty here. */
function membersOf({ envelope }: PageFacts): readonly Member[] {
  const known = membersRead.get(envelope);
  if (known !== undefined) return known;
  const found: Member[] = [];
  const collect = (object: Json, above: string, depth: number): void => {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object)) {
      const place = above === '' ? name : `${above}.${name}`;
      const plain = plainName(name);
      found.push({ name, plain, place, value });
      const isAround = envelope.path[depth] === name;
      if (depth < deepest && (isAround || descriptive.test(plain))) collect(value, place, depth + 1);
    }
  };
  collect(envelope.root, '', 0);
  membersRead.set(envelope, found);
  return found;
}

/** Names of members and headers that lead on. */
const leadingOn = new RegExp(
  [
    'cursor$|^cursor|continuation|^scrollid$|^scroll$|^marker$|marker$|^bookmark$|^after$|^startafter$|^searchafter$',
    '^offset$|^maxid$|^resumption|^lastevaluated|^lastkey$|^pagestate$|^skiptoken$|^token$|^pagetoken$|^continue$',
    '^next(|page.*|cursor|token|key|id|marker|batch|set|range|results?|records?|offset|start|from|skip|position)$',
    '^next(url|uri|href|link|path|request|maxid)$|nextlink$|nextpage$|^more(url|link|results?|href)?$|^loadmore$',
  ].join('|'),
);
/** Of these, what stands in front of the page, or is about something else. */
const notLeadingOn =
  /prev|before|start(cursor|marker)$|first|(csrf|xsrf|access|refresh|session|request|sync|delta)token/;
/** True where there are more. */
const saysMore =
  /^(has|is|are)?(more|next|truncated)(results?|items|pages?|records|leads|available|data)?(available)?$/;
/** Names of a number of leads, beside those that are read as a total. */
const counting =
  /^(records(total|filtered)|total(leads|hits|found|available|entries|rows|elements|objects|matches|size)|(lead|leads|record|result|results|item|hit|match|total)count|nbhits|numfound|found|matched|matches|numresults|estimatedtotal)$/;

/** A cursor, token or id by another name may describe each page, the last one, too (Meta, Elasticsearch, CouchDB). */
const namesNext = (name: string): boolean => /next|more/.test(name) || nextNames.includes(name);

const isLeadingOn = (name: string, { isNextMissing }: ReadPage): boolean =>
  leadingOn.test(name) && !notLeadingOn.test(name) && (isNextMissing !== true || namesNext(name));

/** Whether a member that leads on does so: it holds no mark of an end, and nothing that was asked for. */
function leadsOn(name: string, value: Json, { facts, params }: ReadPage): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value))
    return (
      nextHintOf(name, value) !== null &&
      Object.values(value).some((inner) => isMark(inner) || isFilled(inner))
    );
  const asked = [...facts.asked.searchParams.values(), ...params.url.searchParams.values()];
  return isMark(value) && !asked.some((text) => text === value || Number(text) === value);
}

/** Text or a number that marks no end. */
const isMark = (value: Json): boolean =>
  (typeof value === 'string' || typeof value === 'number') && nextHintOf('next', value) !== null;

/** Counts that are larger than what came, in members or in headers. */
function largerCount(
  entries: readonly (readonly [string, Json])[],
  met: number | undefined,
): number | undefined {
  if (met === undefined) return undefined;
  const counts = entries.filter(([name]) => counting.test(name)).map(([, value]) => Number(value));
  return counts.find((count) => Number.isSafeInteger(count) && count > met);
}

const plainHeaders = ({ headers }: PageFacts): readonly (readonly [name: string, value: string])[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[plainName(name.replace(/^x-(ms-|wp-|pagination-)?/, '')), value.trim()]],
  );

const unreadOfLonePage: readonly Row[] = [
  [
    'settings that say where the next page is named',
    ({ params: { next, pagination }, facts: { count }, isNextMissing }) => {
      if (count < fewest || isNextMissing === true) return undefined;
      if (next !== 'auto') return { kind: 'setting-without-effect', setting: 'api.next' };
      const isStyle = pagination === 'cursor' || pagination === 'link';
      return isStyle ? { kind: 'setting-without-effect', setting: 'api.pagination' } : undefined;
    },
  ],
  [
    'cursors and tokens of AWS, Azure, DynamoDB, Elasticsearch, OAI-PMH, Twitter and others, and their like',
    (page) => {
      const found = membersOf(page.facts).find(({ plain, value }) =>
        isLeadingOn(plain, page) ? leadsOn(plain, value, page) : saysMore.test(plain) && isFlagged(value),
      );
      return found && { kind: 'unread-member', name: found.place };
    },
  ],
  [
    'Elasticsearch: a total that was given up',
    ({ facts }) => {
      const found = membersOf(facts).find(({ name, value }) => name === 'relation' && value === 'gte');
      return found && { kind: 'unread-member', name: found.place };
    },
  ],
  [
    'the same in headers',
    (page) => {
      const found = plainHeaders(page.facts).find(([name, value]) =>
        isLeadingOn(name, page) ? leadsOn(name, value, page) : saysMore.test(name) && isFlagged(value),
      );
      return found && { kind: 'unread-header', name: found[0] };
    },
  ],
  [
    'RFC 8288: a Link with another relation than those that are read',
    ({ facts: { headers } }) => {
      const { link } = headers;
      if (link === undefined || !/next|more/i.test(link)) return undefined;
      const isRead = [...(linksIn(link)?.keys() ?? [])].every((relation) => !/next|more/.test(relation));
      return isRead && !/rel\s*=[^,]*(next|more)/i.test(link)
        ? undefined
        : { kind: 'unread-header', name: 'link' };
    },
  ],
  [
    'DataTables, Algolia, Spring and others: counts under other names',
    ({ facts, met }) => {
      const members = membersOf(facts).map(({ plain, value }) => [plain, value] as const);
      const total = largerCount([...members, ...plainHeaders(facts)], met);
      return total === undefined || met === undefined
        ? undefined
        : { kind: 'total-out-of-reach', total, met };
    },
  ],
  [
    'redirects that drop the query',
    ({ facts: { asked, url }, isNextMissing }) => {
      // Of a service that was seen to page all the same.
      if (isNextMissing === true) return undefined;
      const dropped = [...asked.searchParams.keys()].find((name) => !url.searchParams.has(name));
      return dropped === undefined ? undefined : { kind: 'redirect-drops', param: dropped };
    },
  ],
];
