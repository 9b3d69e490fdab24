import type { Answer, BodyWriter, StreamedAnswer } from '../http/server/send-answer.ts';
import { isObject, type Json } from '../json/exact.ts';
import type { Clock } from '../time/clock.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { type EventFeed, EventStreamWriter } from './event-feed.ts';
import { badRequest, inboxFailed, notThere, problemAnswer, RequestProblem } from './request-problem.ts';
import type { InboxQueries } from './queries/query-types.ts';
import type { Replayer } from './replay/replayer.ts';
import type { InspectKeys } from './inspect-keys.ts';
import { noToken, unwantedRequest } from './request-guard.ts';
import { verdicts, type WireInbox, type WireReplay, tokenHeader } from './wire.ts';
import type { VerdictKind } from '../inbox/decide-verdict.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly answer: (parts: ApiParts, request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;
}

const routes = (): readonly Route[] => [
  { method: 'POST', path: /^\/api\/session$/, answer: sessionAnswer },
  { method: 'GET', path: /^\/api\/inbox$/, answer: inboxAnswer },
  { method: 'GET', path: /^\/api\/deliveries$/, answer: pageAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})$/, answer: deliveryAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})\/body$/, answer: bodyAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})\/curl$/, answer: curlAnswer },
  { method: 'GET', path: /^\/api\/search$/, answer: searchAnswers() },
  { method: 'GET', path: /^\/api\/charts$/, answer: chartsAnswer },
  { method: 'GET', path: /^\/api\/counts$/, answer: countsAnswer },
  { method: 'GET', path: /^\/api\/events$/, answer: eventsAnswer },
  { method: 'POST', path: /^\/api\/replays$/, answer: replayAnswer },
];

/** Answers the page's requests, those of nobody else. `onError` is told of a failure that is a bug. */
export function apiAnswers(parts: ApiParts): (request: Delivery) => Promise<ApiAnswer> {
  const known = routes();
  return async (request) => {
    const unwanted = unwantedRequest(request, parts.keys);
    if (unwanted !== undefined) return problemAnswer(unwanted);
    const path = request.path.replace(/\?.*$/s, '');
    const route = known.find((one) => one.path.test(path));
    if (route === undefined) {
      return problemAnswer({ status: 404, code: 'not-found', problem: 'There is nothing at this path.' });
    }
    if (request.method !== route.method) {
      const problem = `This path takes ${route.method} only.`;
      return problemAnswer({ status: 405, code: 'bad-request', problem }, { allow: route.method });
    }
    const seq = Number(route.path.exec(path)?.[1] ?? 0);
    try {
      return await route.answer(parts, {
        query: new QueryValues(request.path),
        path,
        token: headerValues(request, tokenHeader).join(),
        seq,
        body: request.body,
      });
    } catch (error) {
      if (error instanceof RequestProblem) return problemAnswer(error.problem, error.headers);
      return problemAnswer(inboxFailed(error));
    }
  };
}

/** One request of the page, which its guard has let pass. */
interface ApiRequest {
  readonly query: QueryValues;
  readonly path: string;
  readonly token: string;
  /** The number in the path; 0 where it has none. */
  readonly seq: number;
  readonly body: Uint8Array;
}

type ApiAnswer = Answer | StreamedAnswer;

/** What requests are answered from. */
interface ApiParts {
  /** Path of the file, `:memory:`, or the URL of the database without its password. */
  readonly location: string;
  readonly keys: InspectKeys;
  readonly queries: InboxQueries;
  readonly feed: EventFeed;
  readonly replays: Replayer;
  readonly clock: Pick<Clock, 'now' | 'steady'>;
}

const defaultRows = 100;
const mostRows = 200;

const defaultBuckets = 60;
const mostBuckets = 240;

async function inboxAnswer({ location, queries, replays }: ApiParts): Promise<ApiAnswer> {
  const newestSeq = await queries.newestSeq();
  const program = `leads ${LEADS_VERSION}`;
  const body: WireInbox = { location, newestSeq, targets: replays.targets, program };
  return { status: 200, body };
}

async function pageAnswer({ queries }: ApiParts, { query }: ApiRequest): Promise<ApiAnswer> {
  const body = await queries.page({
    ...filterOf(query),
    leadId: query.text('lead'),
    limit: query.number('limit', 1, mostRows) ?? defaultRows,
  });
  return { status: 200, body };
}

const filterOf = (query: QueryValues) => ({
  before: query.number('before'),
  verdicts: query.verdicts(),
  since: query.number('since'),
  until: query.number('until'),
});

async function deliveryAnswer({ queries }: ApiParts, { seq }: ApiRequest): Promise<ApiAnswer> {
  return { status: 200, body: inInbox(await queries.delivery(seq), seq) };
}

/** Never as something that a browser shows: what was received may be a page with scripts. */
async function bodyAnswer({ queries }: ApiParts, { seq }: ApiRequest): Promise<ApiAnswer> {
  const content = inInbox(await queries.body(seq), seq);
  return {
    status: 200,
    text: { type: 'application/octet-stream', content },
    headers: { 'content-disposition': `attachment; filename="delivery-${seq}.json"` },
  };
}

async function curlAnswer({ queries }: ApiParts, { seq }: ApiRequest): Promise<ApiAnswer> {
  return { status: 200, body: inInbox(await queries.curl(seq), seq) };
}

async function chartsAnswer({ queries, clock }: ApiParts, { query }: ApiRequest): Promise<ApiAnswer> {
  const until = query.number('until') ?? clock.now();
  const since = query.number('since');
  if (since !== undefined && since >= until) throw badRequest("The query's since must be before its until.");
  const buckets = query.number('buckets', 1, mostBuckets) ?? defaultBuckets;
  return { status: 200, body: await queries.charts({ since, until, buckets }) };
}

async function countsAnswer({ queries }: ApiParts, { query }: ApiRequest): Promise<ApiAnswer> {
  const { since, until } = filterOf(query);
  return { status: 200, body: await queries.verdicts({ since, until }) };
}

function inInbox<T>(found: T | undefined, seq: number): T {
  if (found === undefined) throw new RequestProblem(notThere(`Delivery ${seq}`));
  return found;
}

const jsonLines = 'application/x-ndjson; charset=utf-8';

/** In characters, of what is searched for. */
const longestText = 500;

/** Searches at one time. */
const mostSearches = 4;

/** `GET /api/events` */
async function eventsAnswer(
  { queries, feed, keys, clock }: ApiParts,
  { query, token }: ApiRequest,
): Promise<ApiAnswer> {
  const after = query.number('after') ?? (await queries.newestSeq());
  if (!feed.reserve()) {
    const problem = 'Too many pages follow this inbox at the same time.';
    const hint = 'close some of them';
    // A client that opens a thousand streams is not to hold a thousand connections.
    const headers = { connection: 'close' };
    throw new RequestProblem({ status: 429, code: 'too-many-streams', problem, hint }, headers);
  }
  return {
    status: 200,
    stream: {
      type: jsonLines,
      write(response, signal) {
        const stream = new EventStreamWriter(response, after, () => clock.steady());
        return keys.whileOpen(token, () => feed.follow(stream, signal));
      },
    },
  };
}

/** Answers `GET /api/search`, a few at one time. */
function searchAnswers(): (parts: ApiParts, request: ApiRequest) => ApiAnswer {
  let running = 0;
  return ({ queries, clock }, { query }) => {
    const text = query.text('q')?.trim() ?? '';
    if (text === '' || text.length > longestText) {
      throw badRequest(`The query's q must be a text of 1 to ${longestText} characters.`);
    }
    if (running >= mostSearches) {
      const problem = 'Too many searches are under way.';
      throw new RequestProblem({ status: 429, code: 'busy', problem });
    }
    const found = queries.search({
      text,
      now: clock.now(),
      ...filterOf(query),
      after: query.number('after'),
    });
    const write = async (response: BodyWriter, signal: AbortSignal): Promise<void> => {
      running += 1;
      try {
        await writeAll(found, (line) => `${JSON.stringify(line)}\n`, response, signal);
      } finally {
        running -= 1;
      }
    };
    return { status: 200, stream: { type: jsonLines, write } };
  };
}

/** Writes no faster than the client reads, until that is gone. */
async function writeAll<Piece>(
  pieces: AsyncIterable<Piece>,
  bytesOf: (piece: Piece) => string | Uint8Array,
  response: BodyWriter,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    if (signal.aborted) return;
    if (!response.write(bytesOf(piece))) await drained(response, signal);
  }
}

/** Resolves when the client has read what was written, or is gone. */
function drained(response: BodyWriter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    response.once('drain', end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** `POST /api/session` */
async function sessionAnswer({ keys }: ApiParts, { body }: ApiRequest): Promise<ApiAnswer> {
  const value = parsed(body);
  const { key, kept } = isObject(value) ? value : {};
  if (typeof kept === 'string') {
    const session = keys.goOn(kept);
    if (session === undefined) throw new RequestProblem(noToken);
    return { status: 200, body: session };
  }
  const exchanged = await keys.exchange(typeof key === 'string' ? key : '');
  if ('refused' in exchanged) {
    const problem = refusals[exchanged.refused];
    const hint = 'Open the address that it printed last.';
    throw new RequestProblem({ status: 401, code: 'wrong-key', problem, hint });
  }
  return { status: 200, body: exchanged };
}

const refusals = {
  used: 'The address was opened before, and opens the page once.',
  late: 'The address was printed more than ten minutes ago.',
  wrong: 'The key is not the one of this server, which may have been started anew.',
} as const;

/** `POST /api/replays` */
async function replayAnswer({ replays, feed }: ApiParts, { body }: ApiRequest): Promise<ApiAnswer> {
  const asked = replayIn(parsed(body));
  if (asked === undefined) {
    throw badRequest('The body must be {"seq": a number, "target": a text}.');
  }
  try {
    return { status: 200, body: await replays.replay(asked) };
  } finally {
    feed.touch(asked.seq);
  }
}

function replayIn(value: Json | undefined): WireReplay | undefined {
  if (!isObject(value)) return undefined;
  const { seq, target } = value;
  const isReplay = Number.isSafeInteger(seq) && typeof seq === 'number' && typeof target === 'string';
  return isReplay ? { seq, target } : undefined;
}

function parsed(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json;
  } catch {
    // The answer says what the body must be.
    return undefined;
  }
}

/** The values of a URL's query, each checked. */
class QueryValues {
  readonly #values: URLSearchParams;

  constructor(path: string) {
    const at = path.indexOf('?');
    this.#values = new URLSearchParams(at === -1 ? '' : path.slice(at + 1));
  }

  text(name: string): string | undefined {
    const [value, ...more] = this.#values.getAll(name);
    if (more.length > 0) throw badRequest(`The query names ${name} more than once.`);
    return value;
  }

  /** A whole number within the limits. */
  number(name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,16}$/.test(value) ? Number(value) : -1;
    if (number >= least && number <= most) return number;
    throw badRequest(`The query's ${name} must be a whole number from ${least} to ${most}.`);
  }

  verdicts(): readonly VerdictKind[] | undefined {
    const given = this.#values.getAll('verdict');
    if (given.length === 0) return undefined;
    const known = verdicts.filter((verdict) => given.includes(verdict));
    if (given.every((value) => known.some((verdict) => verdict === value))) return known;
    throw badRequest(`The query's verdict must be one of ${verdicts.join(', ')}.`);
  }
}
