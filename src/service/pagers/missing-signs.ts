import { isObject, type Json, membersOf, plainName, type Member } from '../../json/exact.ts';
import type { Envelope } from '../../json/page-envelope.ts';
import { failureInBody } from '../client/failure-kind.ts';
import { contentRange, linksIn, nextHintOf, type PageFacts } from './hints.ts';
import { smallestCap, hintWhenSignIsUnread, totalOutOfReach, type Unproven, unproven } from './pager.ts';
import type { RequestParams } from './request-params.ts';
import { nextNames } from './names.ts';

/**
 * `met`: different leads that the walk met; undefined where a total may count others, too. `isNextMissing`: the service names a next
 * page as a rule, and this answer names none. Then a cursor or token counts only if its name says "next" or "more": others may describe
 * the page itself. And neither a setting nor a redirect is to blame: next pages were named, and came.
 */
interface ExaminedPage {
  readonly params: RequestParams;
  readonly facts: PageFacts;
  readonly met: number | undefined;
  readonly isNextMissing: boolean;
}

/** Signs that leads may be missing, each by the services or the standard that it was seen with. */
type Signs<Page> = Readonly<Record<string, (page: Page) => Unproven | undefined>>;

const firstSign = <Page>(signs: Signs<Page>, page: Page): Unproven | undefined =>
  Object.values(signs)
    .map((read) => read(page))
    .find((reason) => reason !== undefined);

/** The first sign of an answer that is not all of what was asked for, as the answer says itself; on any page. */
export const partialAnswer = (facts: PageFacts): Unproven | undefined => firstSign(partialSigns, facts);

/** The first sign that leads are behind a page that names no next page which the walk could read. */
export const unreadSign = (page: ExaminedPage): Unproven | undefined => firstSign(unreadSigns, page);

/**
 * A failure that an answer tells beside leads. What the first answer with leads says with the same value is ordinary here, and no
 * sign. The first answer has none to be compared with: only its flags (`isFlag`) count.
 */
export function failedAnswer(
  { envelope, asked: url, count }: PageFacts,
  first: PageFacts,
): Unproven | undefined {
  const { root } = first.envelope;
  const isFirst = first.envelope === envelope;
  const ownMembersButFlags =
    isFirst && isObject(root) ? Object.entries(root).filter(([name]) => !isFlag(name)) : undefined;
  const failure = failureInBody(envelope.root, {
    isEmpty: count === 0,
    first: ownMembersButFlags === undefined ? root : Object.fromEntries(ownMembersButFlags),
    requestUrl: url,
  });
  return failure && unproven(`the service answered with a failure: ${failure.text}`, 'try again later');
}

const isFlag = (name: string): boolean =>
  /^((is)?(success(ful)?|succeeded|ok)|iserror)$/.test(plainName(name));

const isTrue = (value: Json): boolean => value === true || value === 'true';
const isFilled = (value: Json): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;

const partial =
  (name: RegExp, holds: (value: Json) => boolean) =>
  (facts: PageFacts): Unproven | undefined => {
    const member = membersBeside(facts).find(({ plain, value }) => name.test(plain) && holds(value));
    return (
      member &&
      unproven(`the service says itself that an answer is not all ('${member.place}')`, 'try again later')
    );
  };

const partialSigns: Signs<PageFacts> = {
  'GitHub: search': partial(/^incompleteresults?$/, isTrue),
  'Elasticsearch: shards': partial(/^shards$/, (value) => isObject(value) && Number(value['failed']) > 0),
  'Elasticsearch: time-out': partial(/^(timedout|terminatedearly)$/, isTrue),
  'GraphQL: errors beside data': partial(/^errors$/, isFilled),
  'Google APIs: partial success': partial(
    /^unreachable$/,
    (value) => Array.isArray(value) && isFilled(value),
  ),
  'OpenSearch, gateways': partial(/^(ispartial|partial|partialresults?)$/, isTrue),
  'S3 and others': partial(/^(truncated|resultstruncated|limitreached|limitexceeded)$/, isTrue),
  'RFC 9110, section 15.3.7: 206': ({ status, headers, count }) => {
    if (status !== 206) return undefined;
    const range = contentRange(headers);
    const isFitting = range?.end !== undefined && range.count === count;
    if (isFitting) return undefined;
    const part = headers['content-range'];
    return unproven(
      part === undefined
        ? 'the service answered with a part of the list (206) and does not say which'
        : `the service answered with the part '${part}', and ${count} leads came`,
    );
  },
};

/** Names of objects in which services describe the list; other objects are data, and are not entered. */
const descriptive =
  /meta|pag|link|cursor|scroll|response|result|search|list|hits|total|info|nav|next|range|data|query/;
const deepestEntered = 4;

const membersRead = new WeakMap<Envelope, readonly Member[]>();

/** The members of an answer beside its leads, whose array is empty here. */
function membersBeside({ envelope }: PageFacts): readonly Member[] {
  const enter = ({ name, plain, depth, value }: Member): Json | undefined =>
    depth < deepestEntered && (envelope.path[depth] === name || descriptive.test(plain)) ? value : undefined;
  const members = membersRead.get(envelope) ?? membersOf(envelope.root, enter);
  membersRead.set(envelope, members);
  return members;
}

const leadingOn = new RegExp(
  [
    'cursor$|^cursor|continuation|^scrollid$|^scroll$|^marker$|marker$|^bookmark$|^after$|^startafter$|^searchafter$',
    '^offset$|^maxid$|^resumption|^lastevaluated|^lastkey$|^pagestate$|^skiptoken$|^token$|^pagetoken$|^continue$',
    '^next(|page.*|cursor|token|key|id|marker|batch|set|range|results?|records?|offset|start|from|skip|position)$',
    '^next(url|uri|href|link|path|request|maxid)$|nextlink$|nextpage$|^more(url|link|results?|href)?$|^loadmore$',
  ].join('|'),
);
const notLeadingOn =
  /prev|before|start(cursor|marker)$|first|(csrf|xsrf|access|refresh|session|request|sync|delta)token/;
const saysMore =
  /^(has|is|are)?(more|next|truncated)(results?|items|pages?|records|leads|available|data)?(available)?$/;
/** Names of a number of leads, beside those that are read as a total. */
const counting =
  /^(records(total|filtered)|total(leads|hits|found|available|entries|rows|elements|objects|matches|size)|(lead|leads|record|result|results|item|hit|match|total)count|nbhits|numfound|found|matched|matches|numresults|estimatedtotal)$/;

function leadsOn(plain: string, value: Json, { facts, params, isNextMissing }: ExaminedPage): boolean {
  // A cursor, token or id by another name may describe each page, the last one, too (Meta, Elasticsearch, CouchDB).
  const namesNext = !isNextMissing || /next|more/.test(plain) || nextNames.includes(plain);
  const isCandidate = leadingOn.test(plain) && !notLeadingOn.test(plain) && namesNext;
  if (!isCandidate) return saysMore.test(plain) && isTrue(value);
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value))
    return (
      nextHintOf(plain, value) !== null &&
      Object.values(value).some((inner) => isMark(inner) || isFilled(inner))
    );
  const parameters = [...facts.asked.searchParams.values(), ...params.url.searchParams.values()];
  return isMark(value) && !parameters.some((text) => text === value || Number(text) === value);
}

const isMark = (value: Json): boolean =>
  (typeof value === 'string' || typeof value === 'number') && nextHintOf('next', value) !== null;

const plainHeaders = ({ headers }: PageFacts): Pick<Member, 'name' | 'plain' | 'value'>[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ name, plain: plainName(name.replace(/^x-(ms-|wp-|pagination-)?/, '')), value: value.trim() }],
  );

const unread = (sign: string): Unproven =>
  unproven(`the answer's ${sign} may lead to more leads`, hintWhenSignIsUnread);

const settingWithoutEffect = (setting: 'api.next' | 'api.pagination'): Unproven =>
  unproven(`${setting} says where the next page is named, and no answer names one there`, (front) => {
    const isRight = `if it is right: ${front.set('api.next-seen', 'true')}`;
    return `${isRight}; if the service may page in another way: ${front.set(setting, 'auto')}`;
  });

const unreadSigns: Signs<ExaminedPage> = {
  'settings that say where the next page is named': ({ params, facts, isNextMissing }) => {
    if (facts.count < smallestCap || isNextMissing) return undefined;
    if (params.next !== 'auto') return settingWithoutEffect('api.next');
    const isStyle = params.pagination === 'cursor' || params.pagination === 'link';
    return isStyle ? settingWithoutEffect('api.pagination') : undefined;
  },
  'cursors and tokens of AWS, Azure, DynamoDB, Elasticsearch, OAI-PMH, Twitter': (page) => {
    const member = membersBeside(page.facts).find(({ plain, value }) => leadsOn(plain, value, page));
    return member && unread(`'${member.place}'`);
  },
  'Elasticsearch: a total that was given up': ({ facts }) => {
    const member = membersBeside(facts).find(({ name, value }) => name === 'relation' && value === 'gte');
    return member && unread(`'${member.place}'`);
  },
  'cursors and tokens in headers': (page) => {
    const header = plainHeaders(page.facts).find(({ plain, value }) => leadsOn(plain, value, page));
    return header && unread(`header '${header.name}'`);
  },
  'RFC 8288: a Link with another relation than those that are read': ({ facts: { headers } }) => {
    const { link = '' } = headers;
    const relations = [...(linksIn(link)?.keys() ?? [])];
    const isUnread = relations.some((relation) => /next|more/.test(relation));
    const isUnparsed = /rel\s*=[^,]*(next|more)/i.test(link);
    return isUnread || isUnparsed ? unread("header 'link'") : undefined;
  },
  'DataTables, Algolia, Spring and others: counts under other names': ({ facts, met }) => {
    if (met === undefined) return undefined;
    const total = [...membersBeside(facts), ...plainHeaders(facts)]
      .filter(({ plain, value }) => counting.test(plain) && ['number', 'string'].includes(typeof value))
      .map(({ value }) => Number(value))
      .find((count) => Number.isSafeInteger(count) && count > met);
    return total === undefined ? undefined : totalOutOfReach(total, met);
  },
  'redirects that drop the query': ({ facts: { asked: askedUrl, url }, isNextMissing }) => {
    if (isNextMissing) return undefined;
    const dropped = [...askedUrl.searchParams.keys()].find((name) => !url.searchParams.has(name));
    if (dropped === undefined) return undefined;
    return unproven(
      `the service redirects the list, and drops the parameter '${dropped}' on the way`,
      (front) => `name the place it redirects to: ${front.set('api.path', '/…')}`,
    );
  },
};
