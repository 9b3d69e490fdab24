import { type DataError, KeyRejectedError, type LeadsError } from '../../errors.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { answerError, type ErrorWords, serviceError, type ServiceProblem } from '../problems.ts';
import { passes } from './network-failure.ts';
import { retryAfterMs, TransientError } from './retry.ts';
import type { Response } from './send-request.ts';
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
  const words = wordsIn(await errorBody(body), redact);
  const wait = retryAfterMs(headers['retry-after'], clock.now(), headers['date']);
  const isLimit = status === 403 && isRateLimit(headers, `${words.error ?? ''} ${words.message ?? ''}`);
  const details = { status, requestId: requestIdIn(response) };
  if (status === 401 || (status === 403 && !isLimit)) {
    const { profile, renewKey } = account;
    const keyIsFromCommand = renewKey !== undefined;
    const refused: ServiceProblem = { kind: 'key-refused', status, words, profile, keyIsFromCommand };
    return new KeyRejectedError(refused, details);
  }
  const kind = status === 429 || isLimit ? 'rate-limited' : 'service-answered';
  if (passes(status) || isLimit) {
    const reset = isLimit ? rateLimitResetMs(headers['x-ratelimit-reset'], clock.now()) : undefined;
    return new TransientError(serviceError({ kind, status, words }, details), wait ?? reset);
  }
  return (status >= 500 ? serviceError : answerError)({ kind, status, words }, details);
}

/** The `error` and `message` of a body (specification, section 7); some services nest both in an object `error`. */
function wordsIn(body: Json | undefined, redact: (text: string) => string): ErrorWords {
  const text = (value: Json | undefined): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? redact(value.trim()).slice(0, 500) : undefined;
  if (!isObject(body)) return { error: undefined, message: undefined };
  const { error } = body;
  if (!isObject(error)) return { error: text(error), message: text(body['message']) };
  return { error: text(error['code'] ?? error['type']), message: text(error['message']) };
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

/** The failure that a body with `error` and `message` reports; undefined for other bodies. `redact` takes the API key out. */
export function rejectionIn(body: Json, redact: (text: string) => string): DataError | undefined {
  const error = isObject(body) ? body['error'] : undefined;
  if (error === undefined || error === null || error === false) return undefined;
  const words = wordsIn(body, redact);
  const saysNothing = (words.error ?? words.message) === undefined;
  return saysNothing ? undefined : answerError({ kind: 'error-with-status-200', words });
}

/** The same for bytes that may be anything. */
export function rejectionInBytes(body: Uint8Array, redact: (text: string) => string): DataError | undefined {
  try {
    return rejectionIn(JSON.parse(Buffer.from(body).toString('utf8')) as Json, redact);
  } catch {
    return undefined;
  }
}
