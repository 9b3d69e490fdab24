import type { InboxReader } from '../inbox/inbox.ts';
import type { Answer } from '../http/server/send-answer.ts';
import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../json/exact.ts';
import { storedDelivery } from '../receiver/stored-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { InspectKeys } from './inspect-keys.ts';
import { countDeliveries } from './queries/count-deliveries.ts';
import { describeDelivery } from './queries/describe-delivery.ts';
import { listPage } from './queries/list-page.ts';
import type { Replayer } from './replayer.ts';
import { noToken, unwantedRequest } from './request-guard.ts';
import {
  type ApiProblem,
  badRequest,
  inboxFailed,
  notInInbox,
  nothingThere,
  problemAnswer,
  RequestProblem,
} from './request-problem.ts';
import {
  listFilters,
  type WireChanges,
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
  readonly answer: (parts: ApiParts, request: ApiRequest) => Promise<Answer>;
}

const json =
  (read: (parts: ApiParts, request: ApiRequest) => object | Promise<object>): Route['answer'] =>
  async (parts, request) => ({ status: 200, body: await read(parts, request) });

const routes: readonly Route[] = [
  { method: 'POST', path: /^\/api\/session$/, answer: json(openSession) },
  { method: 'GET', path: /^\/api\/inbox$/, answer: json(readInbox) },
  { method: 'GET', path: /^\/api\/changes$/, answer: json(readChanges) },
  { method: 'GET', path: /^\/api\/deliveries$/, answer: json(readPage) },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})$/, answer: json(readDelivery) },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})\/body$/, answer: bodyAnswer },
  { method: 'GET', path: /^\/api\/counts$/, answer: json(readCounts) },
  { method: 'POST', path: /^\/api\/replays$/, answer: json(replay) },
];

export async function apiAnswer(parts: ApiParts, request: Delivery): Promise<Answer> {
  const unwanted = unwantedRequest(request, parts.keys);
  if (unwanted !== undefined) return problemAnswer(unwanted);
  const path = request.path.replace(/\?.*$/s, '');
  const route = routes.find((candidate) => candidate.path.test(path));
  if (route === undefined) return problemAnswer(nothingThere);
  if (request.method !== route.method) {
    const problem = `This path takes ${route.method} only.`;
    return problemAnswer({ status: 405, code: 'bad-request', problem }, { allow: route.method });
  }
  const seq = Number(route.path.exec(path)?.[1] ?? 0);
  try {
    return await route.answer(parts, { query: new QueryValues(request.path), seq, body: request.body });
  } catch (error) {
    return problemAnswer(error instanceof RequestProblem ? error.problem : inboxFailed(error));
  }
}

interface ApiRequest {
  readonly query: QueryValues;
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

const longestText = 500;

async function readInbox({ location, inbox, replays }: ApiParts): Promise<WireInbox> {
  await inbox.checkReadable();
  return { location, targets: replays.targets };
}

async function readChanges({ inbox }: ApiParts): Promise<WireChanges> {
  return { mark: await inbox.changeMark() };
}

function readPage({ inbox, clock }: ApiParts, { query }: ApiRequest): Promise<WirePage> {
  const text = query.text('text') ?? '';
  if (text.length > longestText)
    throw badRequest(`The query's text has more than ${longestText} characters.`);
  return listPage(
    inbox,
    {
      text,
      limit: query.number('limit', 1, mostRows) ?? defaultRows,
      before: query.number('before'),
      after: query.number('after'),
      verdicts: query.verdicts(),
      since: query.number('since'),
      until: query.number('until'),
    },
    clock,
  );
}

async function readDelivery({ inbox }: ApiParts, { seq }: ApiRequest): Promise<WireDelivery> {
  return inInbox(await describeDelivery(inbox, seq), seq);
}

/** The content type and headers keep a browser from showing the body, which may be a page with scripts. */
async function bodyAnswer({ inbox }: ApiParts, { seq }: ApiRequest): Promise<Answer> {
  const { body: content } = inInbox(await storedDelivery(inbox, seq), seq);
  return {
    status: 200,
    text: { type: 'application/octet-stream', content },
    headers: { 'content-disposition': `attachment; filename="delivery-${seq}.json"` },
  };
}

function readCounts({ inbox, clock }: ApiParts, { query }: ApiRequest): Promise<WireCounts> {
  const window = { since: query.number('since'), until: query.number('until') };
  return countDeliveries(inbox, window, clock.now());
}

function inInbox<T>(value: T | undefined, seq: number): T {
  if (value === undefined) throw new RequestProblem(notInInbox(seq));
  return value;
}

function openSession({ keys }: ApiParts, { body }: ApiRequest): WireSession {
  const { key, reloadKey } = membersOf(body);
  const isReload = typeof reloadKey === 'string';
  const session = isReload ? keys.reload(reloadKey) : keys.exchange(typeof key === 'string' ? key : '');
  if (session === undefined) throw new RequestProblem(isReload ? noToken : wrongKey);
  return session;
}

const wrongKey: ApiProblem = {
  status: 401,
  code: 'wrong-key',
  problem: 'The key is not the one of this server, was used before, or is more than ten minutes old.',
  hint: 'Open the address that it printed last.',
};

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

class QueryValues {
  readonly #values: URLSearchParams;

  constructor(path: string) {
    this.#values = new URLSearchParams(/\?(.*)$/s.exec(path)?.[1] ?? '');
  }

  text(name: string): string | undefined {
    const [value, ...more] = this.#values.getAll(name);
    if (more.length > 0) throw badRequest(`The query names ${name} more than once.`);
    return value;
  }

  number(name: string, min = 0, max = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,16}$/.test(value) ? Number(value) : -1;
    if (number >= min && number <= max) return number;
    throw badRequest(`The query's ${name} must be a whole number from ${min} to ${max}.`);
  }

  verdicts(): readonly WireListFilter[] | undefined {
    const names = this.#values.getAll('verdict');
    if (names.length === 0) return undefined;
    const verdicts = listFilters.filter((verdict) => names.includes(verdict));
    if (verdicts.length === new Set(names).size) return verdicts;
    throw badRequest(`The query's verdict must be one of ${listFilters.join(', ')}.`);
  }
}
