import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { loginCommand } from '../../config/login-command.ts';
import type { Dispatcher } from 'undici';
import { formatDuration } from '../../time/duration.ts';
import { DataError } from '../../errors.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { networkFailure, rejectionFailure } from './failure.ts';
import { redact } from './redact-key.ts';
import { retryAfterMs } from './retry-after.ts';
import { rateLimited } from './retry.ts';
import type { Service } from './service.ts';

/** A 200 whose body is still to come, or a 204. */
export interface Answer {
  readonly url: URL;
  /** 200, or 204 for an empty page. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Takes the API key out of a text of the answer. */
  readonly redact: (text: string) => string;
}

const mostRedirects = 5;
const longestErrorBody = 64 * 1024;
const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-trace-id',
  'cf-ray',
];

/**
 * One GET with the key, redirects within the origin followed. Throws a `TransientError` for what another attempt may repair,
 * a `KeyRefusedError`, `ServiceError` or `DataError` for what it will not.
 */
export async function request(service: Service, url: URL, signal: AbortSignal): Promise<Answer> {
  let target = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    await passGate(service, signal);
    const startedAt = service.clock.now();
    const response = await send(service, target, signal);
    const { statusCode: status } = response;
    const took = formatDuration(service.clock.now() - startedAt);
    service.messages.verbose(
      redact(`GET ${target.pathname}${target.search} → ${status} in ${took}`, service.account.apiKey),
    );
    const headers = singly(response.headers);
    if (status === 200 || status === 204) {
      const requestId = requestIdIn(headers, service);
      return {
        url: target,
        status,
        headers,
        requestId,
        body: awaited(decoded(response.body, headers['content-encoding']), service.messages),
        redact: (text) => redact(text, service.account.apiKey),
      };
    }
    const location = status >= 300 && status < 400 ? headers['location'] : undefined;
    if (location === undefined) throw await rejected(service, response, headers);
    await response.body.dump();
    target = redirected(target, location, service.account.profile);
  }
  throw new DataError(`the service redirects more than ${mostRedirects} times`);
}

/** The service's name for a request, unless it repeats the key in it. */
function requestIdIn(headers: Answer['headers'], { account }: Service): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id, account.apiKey);
}

async function passGate({ rateGate, messages }: Service, signal: AbortSignal): Promise<void> {
  const { waitMs: ms } = rateGate;
  if (ms > 0) await messages.waiting({ ms, why: rateLimited }, () => rateGate.pass(signal));
}

/** The same bytes; while the next ones are awaited, that shows. */
async function* awaited(
  body: AsyncIterable<Uint8Array>,
  messages: Service['messages'],
): AsyncGenerator<Uint8Array, void, undefined> {
  let heard = messages.asking();
  try {
    for await (const chunk of body) {
      heard();
      yield chunk;
      heard = messages.asking();
    }
  } finally {
    heard();
  }
}

async function send(service: Service, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const heard = service.messages.asking();
  try {
    return await service.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${service.account.apiKey.reveal()}`,
        'user-agent': `leads/${LEADS_VERSION}`,
      },
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw networkFailure(error, url.origin);
  } finally {
    heard();
  }
}

/** The key is for one origin: a redirect to another one is not followed (promise: never to another origin). */
function redirected(from: URL, location: string, profile: string | undefined): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.origin === from.origin) return to;
  throw new DataError(`the service redirects to ${to?.origin ?? 'no proper URL'}, another origin`, {
    hint:
      to === undefined
        ? undefined
        : `the API key is not sent there; if that is the service: ${loginCommand(profile, to.origin)}`,
  });
}

async function rejected(
  service: Service,
  response: Dispatcher.ResponseData,
  headers: Answer['headers'],
): Promise<Error> {
  const body = await errorBody(response);
  const text = (value: Json | undefined): string | undefined =>
    typeof value === 'string' && value.trim() !== ''
      ? redact(value.trim(), service.account.apiKey).slice(0, 500)
      : undefined;
  const error = isObject(body) ? body['error'] : undefined;
  // Some services nest both in an object `error`.
  const inner = isObject(error) ? error : isObject(body) ? body : undefined;
  const code = text(isObject(error) ? (error['code'] ?? error['type']) : error);
  const message = text(inner?.['message']);
  const wait = retryAfterMs(headers['retry-after'], service.clock.now(), headers['date']);
  const isLimit = response.statusCode === 403 && isRateLimit(headers, `${code ?? ''} ${message ?? ''}`);
  return rejectionFailure({
    profile: service.account.profile,
    status: response.statusCode,
    error: code,
    message,
    requestId: requestIdIn(headers, service),
    waitMs: isLimit ? (wait ?? rateLimitResetMs(headers['x-ratelimit-reset'], service.clock.now())) : wait,
    isRateLimit: isLimit,
  });
}

/** GitHub, among others, answers 403 to a client that asks too often. */
const isRateLimit = (headers: Answer['headers'], text: string): boolean =>
  headers['retry-after'] !== undefined ||
  headers['x-ratelimit-remaining'] === '0' ||
  /rate.?limit|too many requests|quota exceeded/i.test(text);

/** `X-RateLimit-Reset` in seconds since the epoch, as a wait in milliseconds; other meanings are not known. */
function rateLimitResetMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\d{10}$/.test(value.trim())) return undefined;
  return Math.max(0, Number(value) * 1000 - now);
}

/** The error's JSON; anything else, or a body that breaks off, says no more than the status does. */
async function errorBody(response: Dispatcher.ResponseData): Promise<Json | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestErrorBody) break;
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

/** The first value of a header that stands there more than once; `Link` values are one list (RFC 9110, 5.3). */
function singly(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? (name === 'link' ? value.join(', ') : value[0]) : value,
    ]),
  );
}

/** No request asks for a compressed body, but a server may send one anyway. */
function decoded(
  body: Dispatcher.ResponseData['body'],
  coding: string | undefined,
): AsyncIterable<Uint8Array> {
  const name = coding?.trim().toLowerCase() ?? 'identity';
  if (name === '' || name === 'identity') return body as AsyncIterable<Uint8Array>;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    throw new DataError(`the service encodes its answer as '${name}'`);
  }
  const decoder = name === 'br' ? createBrotliDecompress() : createUnzip();
  body.on('error', (error: Error) => decoder.destroy(error));
  return body.pipe(decoder) as AsyncIterable<Uint8Array>;
}
