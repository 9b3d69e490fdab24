import { DataError, type LeadsError } from '../../errors.ts';
import { isObject, type Json } from '../../json/exact.ts';
import type { Response } from './exchange.ts';
import { rejectionFailure } from './failure.ts';
import { retryAfterMs, type TransientError } from './retry.ts';
import type { Service } from './service.ts';

const longestErrorBody = 64 * 1024;
const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-trace-id',
  'cf-ray',
];

/** The service's name for a request, unless it repeats the key in it. */
export function requestIdIn({ headers, redact }: Pick<Response, 'headers' | 'redact'>): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id);
}

/** The failure that an error status means: a `TransientError` where another attempt may help. Reads `body` only. */
export async function errorAnswer(
  { account, clock }: Service,
  response: Pick<Response, 'status' | 'headers' | 'redact'>,
  body: AsyncIterable<Uint8Array>,
): Promise<LeadsError | TransientError> {
  const { status, headers, redact } = response;
  const json = await errorBody(body);
  const text = (value: Json | undefined): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? redact(value.trim()).slice(0, 500) : undefined;
  const error = isObject(json) ? json['error'] : undefined;
  // Some services nest both in an object `error`.
  const inner = isObject(error) ? error : isObject(json) ? json : undefined;
  const code = text(isObject(error) ? (error['code'] ?? error['type']) : error);
  const message = text(inner?.['message']);
  const wait = retryAfterMs(headers['retry-after'], clock.now(), headers['date']);
  const isLimit = status === 403 && isRateLimit(headers, `${code ?? ''} ${message ?? ''}`);
  return rejectionFailure({
    profile: account.profile,
    status,
    error: code,
    message,
    requestId: requestIdIn(response),
    waitMs: isLimit ? (wait ?? rateLimitResetMs(headers['x-ratelimit-reset'], clock.now())) : wait,
    isRateLimit: isLimit,
    keyIsFromCommand: account.renewKey !== undefined,
  });
}

/** GitHub, among others, answers 403 to a client that asks too often. */
const isRateLimit = (headers: Response['headers'], text: string): boolean =>
  headers['retry-after'] !== undefined ||
  headers['x-ratelimit-remaining'] === '0' ||
  /rate.?limit|too many requests|quota exceeded/i.test(text);

/** `X-RateLimit-Reset` in seconds since the epoch, as a wait in milliseconds; other meanings are not known. */
function rateLimitResetMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\d{10}$/.test(value.trim())) return undefined;
  return Math.max(0, Number(value) * 1000 - now);
}

/** The error's JSON; anything else, or a body that breaks off, says no more than the status does. */
async function errorBody(body: AsyncIterable<Uint8Array>): Promise<Json | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestErrorBody) break;
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 500) : undefined;

/** `redact` takes the API key out of a text. The failure that a body with `error` and `message` (specification, section 7) reports; undefined for other bodies. */
export function rejectionIn(body: Json, redact: (text: string) => string): DataError | undefined {
  if (!isObject(body)) return undefined;
  const { error } = body;
  const inner = isObject(error) ? error : body;
  const code = textOf(isObject(error) ? (error['code'] ?? error['type']) : error);
  const message = textOf(inner['message']);
  if (error === undefined || error === null || error === false || (code ?? message) === undefined)
    return undefined;
  const why = message === undefined ? code : `${message}${code === undefined ? '' : ` (${code})`}`;
  return new DataError(`the service answered 200 with an error: ${redact(why ?? '')}`);
}

/** The same for bytes that may be anything. */
export function rejectionInBytes(body: Uint8Array, redact: (text: string) => string): DataError | undefined {
  try {
    return rejectionIn(JSON.parse(Buffer.from(body).toString('utf8')) as Json, redact);
  } catch {
    return undefined;
  }
}
