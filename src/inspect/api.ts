import type { InboxReader } from '../inbox/inbox.ts';
import type { Answer } from '../http/server/server-options.ts';
import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../json/exact.ts';
import type { Clock } from '../time/clock.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import type { InspectKeys } from './inspect-keys.ts';
import { countDeliveries } from './queries/count-deliveries.ts';
import { describeDelivery } from './queries/describe-delivery.ts';
import { listPage } from './queries/list-page.ts';
import type { Replayer } from './replayer.ts';
import { badRequest, notInInbox, nothingThere, RequestProblem, wrongMethod } from './request-problem.ts';
import {
  listFilters,
  tokenHeader,
  type WireCounts,
  type WireDelivery,
  type WireInbox,
  type WireListFilter,
  type WirePage,
  type WireReplayed,
  type WireSession,
} from './wire.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly answer: (parts: ApiParts, request: ApiRequest) => object | Promise<object>;
}

const routes: readonly Route[] = [
  { method: 'POST', path: /^\/api\/session$/, answer: openSession },
  { method: 'GET', path: /^\/api\/inbox$/, answer: readInbox },
  { method: 'GET', path: /^\/api\/deliveries$/, answer: readPage },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})$/, answer: readDelivery },
  { method: 'GET', path: /^\/api\/counts$/, answer: readCounts },
  { method: 'POST', path: /^\/api\/replays$/, answer: replay },
];

export async function apiAnswer(parts: ApiParts, request: Delivery): Promise<Answer> {
  checkApiRequest(request, parts.keys);
  const { pathname, searchParams } = new URL(request.path, 'http://localhost');
  const route = routes.find(({ path }) => path.test(pathname));
  if (route === undefined) throw nothingThere();
  if (request.method !== route.method) return wrongMethod(route.method);
  const [, seq = 0] = route.path.exec(pathname) ?? [];
  const apiRequest = { query: searchParams, seq: Number(seq), body: request.body };
  return { status: 200, body: await route.answer(parts, apiRequest) };
}

/**
 * Every request to the API must pass this check. Pages of other origins, and of other ports of this machine, can send requests
 * here. They cannot add the header of the token, and their browser says in `Sec-Fetch-Site` and `Origin` where they come from.
 */
function checkApiRequest(request: Delivery, keys: InspectKeys): void {
  const [host = ''] = headerValues(request, 'host');
  const origins = headerValues(request, 'origin');
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  const isFromOtherSite = headerValues(request, 'sec-fetch-site').some((site) => site !== 'same-origin');
  const isFromOtherOrigin = origins.some((origin) => origin !== `http://${host.toLowerCase()}`);
  if (isFromOtherSite || isFromOtherOrigin || (isWrite && origins.length !== 1)) {
    throw new RequestProblem(403, 'forbidden', 'The request does not come from the page of this server.');
  }
  const contentType = headerValues(request, 'content-type').join();
  if (isWrite && !/^application\/json(\s*;\s*charset=utf-8)?$/i.test(contentType)) {
    throw new RequestProblem(415, 'bad-request', 'The content type must be application/json.');
  }
  const tokens = headerValues(request, tokenHeader);
  if (request.path !== '/api/session' && !keys.useToken(tokens.join())) throw noToken();
}

const noToken = (): RequestProblem =>
  new RequestProblem(
    401,
    'no-token',
    'The request has no token of this server, which may have been started anew.',
    'Open the address that it printed last.',
  );

interface ApiRequest {
  readonly query: URLSearchParams;
  /** The number of the delivery in the path; 0 where the route has none. */
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface ApiParts {
  readonly location: string;
  readonly keys: InspectKeys;
  readonly inbox: Omit<InboxReader, 'close'>;
  readonly replays: Replayer;
  readonly clock: Pick<Clock, 'now' | 'steady'>;
}

const defaultRows = 100;
const mostRows = 200;

async function readInbox({ location, inbox, replays }: ApiParts): Promise<WireInbox> {
  return { location, targets: replays.targets, mark: await inbox.changeMark() };
}

function readPage({ inbox, clock }: ApiParts, { query }: ApiRequest): Promise<WirePage> {
  const filter = {
    text: query.get('text') ?? '',
    limit: numberIn(query, 'limit', 1, mostRows) ?? defaultRows,
    before: numberIn(query, 'before'),
    after: numberIn(query, 'after'),
    verdicts: verdictsIn(query),
    ...windowIn(query),
  };
  return listPage(inbox, filter, clock);
}

async function readDelivery({ inbox }: ApiParts, { seq }: ApiRequest): Promise<WireDelivery> {
  const delivery = await describeDelivery(inbox, seq);
  if (delivery === undefined) throw notInInbox(seq);
  return delivery;
}

function readCounts({ inbox, clock }: ApiParts, { query }: ApiRequest): Promise<WireCounts> {
  return countDeliveries(inbox, windowIn(query), clock.now());
}

function openSession({ keys }: ApiParts, { body }: ApiRequest): WireSession {
  const { key, reloadKey } = membersOf(body);
  const isReload = typeof reloadKey === 'string';
  const session = isReload ? keys.reload(reloadKey) : keys.exchange(typeof key === 'string' ? key : '');
  if (session !== undefined) return session;
  if (isReload) throw noToken();
  throw new RequestProblem(
    401,
    'wrong-key',
    'The key is not the one of this server, was used before, or is more than ten minutes old.',
    'Open the address that it printed last.',
  );
}

function replay({ replays }: ApiParts, { body }: ApiRequest): Promise<WireReplayed> {
  const { seq, target } = membersOf(body);
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || typeof target !== 'string') {
    throw badRequest('The body must be {"seq": a number, "target": a text}.');
  }
  return replays.replay({ seq, target });
}

/** A body that is no JSON object has no members. */
function membersOf(body: Uint8Array): { readonly [name: string]: Json | undefined } {
  const value = jsonIn(utf8(body));
  return isObject(value) ? value : {};
}

function numberIn(
  query: URLSearchParams,
  name: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const number = /^\d{1,16}$/.test(value) ? Number(value) : -1;
  if (number >= min && number <= max) return number;
  throw badRequest(`The query's ${name} must be a whole number from ${min} to ${max}.`);
}

const windowIn = (query: URLSearchParams) => ({
  since: numberIn(query, 'since'),
  until: numberIn(query, 'until'),
});

function verdictsIn(query: URLSearchParams): readonly WireListFilter[] | undefined {
  const names = query.getAll('verdict');
  if (names.length === 0) return undefined;
  const verdicts = listFilters.filter((verdict) => names.includes(verdict));
  if (verdicts.length === new Set(names).size) return verdicts;
  throw badRequest(`The query's verdict must be one of ${listFilters.join(', ')}.`);
}
