import { isObject, type Json } from '../../json/exact.ts';
import type { Clock } from '../../time/clock.ts';
import { parseDuration } from '../../time/time-text.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** The clocks that a point in time is held against; the later one counts. Ms since the epoch. */
interface Clocks {
  readonly now: number;
  readonly serviceNow: number | undefined;
}

/**
 * How long an answer asks to wait from now, in milliseconds; undefined where it does not. `Retry-After` (RFC 9110, section
 * 10.2.3) goes before `RateLimit` (draft-ietf-httpapi-ratelimit-headers), that before the headers of vendors, and those before
 * the body.
 */
export function askedWaitMs(headers: Headers, body: Json | undefined, now: number): number | undefined {
  const clocks = clocksOf(headers, now);
  const retryAfter = retryAfterMs(headers['retry-after'], now, headers['date']);
  if (retryAfter !== undefined) return retryAfter;
  const waits = [
    milliseconds(headers['retry-after-ms']),
    rateLimitMs(headers['ratelimit'], clocks),
    resetMs(headers, clocks),
    bodyWaitMs(body, clocks, 0),
  ];
  return waits.find((ms) => ms !== undefined && ms > 0);
}

/** How long `Retry-After` asks to wait: seconds, a date, or what it should not be, a Unix time. */
export const retryAfterMs = (
  value: string | undefined,
  now: number,
  serviceDate: string | undefined,
): number | undefined => waitIn(value, clocksOf({ date: serviceDate }, now));

function clocksOf({ date }: Headers, now: number): Clocks {
  const serviceNow = Date.parse(date ?? '');
  return { now, serviceNow: Number.isNaN(serviceNow) ? undefined : serviceNow };
}

/** Seconds, a Unix time in seconds (10 digits) or milliseconds (13 digits), a date or a duration such as `1m30s`. */
function waitIn(value: string | undefined, clocks: Clocks): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{10}(\.\d+)?$/.test(text)) return untilMs(Number(text) * 1000, clocks);
  if (/^\d{13}$/.test(text)) return untilMs(Number(text), clocks);
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // A bare Date.parse would take "-5" for the month of May.
  const end = /[a-z]{3}|\d-\d\d-\d\d/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(end) ? parseDuration(text) : untilMs(end, clocks);
}

const untilMs = (end: number, { now, serviceNow = now }: Clocks): number =>
  Math.ceil(Math.max(0, end - now, end - serviceNow));

const milliseconds = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d+$/.test(value.trim()) ? Number(value) : undefined;

/** `"requests";r=0;t=25`, or in earlier drafts `limit=100, remaining=0, reset=25`; of several the used-up ones. */
function rateLimitMs(value: string | undefined, clocks: Clocks): number | undefined {
  const items = (value ?? '').includes(';') ? (value ?? '').split(',') : [value ?? ''];
  const waits = items.map((item) => {
    const remaining = /\b(?:r|remaining)=(\d+)/.exec(item)?.[1];
    const wait = /\b(?:t|reset)=(\d+)/.exec(item)?.[1];
    return remaining !== undefined && Number(remaining) > 0 ? undefined : waitIn(wait, clocks);
  });
  return longest(waits);
}

/** `X-RateLimit-Reset` and its like, which stand in every answer of some services: they count where no request is left. */
function resetMs(headers: Headers, clocks: Clocks): number | undefined {
  const valuesOf = (pattern: RegExp): string[] =>
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && pattern.test(name) ? [value] : [],
    );
  const counts = valuesOf(/^(x-)?rate-?limit-remaining/).map(Number);
  if (counts.length > 0 && counts.every((count) => count > 0)) return undefined;
  return longest(valuesOf(/^(x-)?rate-?limit-(reset|retry)/).map((value) => waitIn(value, clocks)));
}

const longest = (waits: readonly (number | undefined)[]): number | undefined => {
  const numbers = waits.filter((wait) => wait !== undefined);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
};

/** Discord, Telegram, Google's RetryInfo and others say it in a member, some in a sentence: `available in 25 seconds`. */
function bodyWaitMs(body: Json | undefined, clocks: Clocks, depth: number): number | undefined {
  if (depth > 4) return undefined;
  if (typeof body === 'string') return sentenceWaitMs(body, clocks);
  if (Array.isArray(body))
    return longest(body.map((element) => bodyWaitMs(element as Json, clocks, depth + 1)));
  if (!isObject(body)) return undefined;
  return longest(
    Object.entries(body).map(([name, value]) => {
      const plain = name.toLowerCase().replace(/[^a-z]/g, '');
      if (!memberName.test(plain) || typeof value === 'object') return bodyWaitMs(value, clocks, depth + 1);
      return plain.endsWith('ms') || plain.endsWith('milliseconds')
        ? milliseconds(String(value))
        : waitIn(String(value), clocks);
    }),
  );
}

const memberName =
  /^(retryafter|retrydelay|retryin|waitfor|wait|resetin|resetafter|resetat|resetsat|ratelimitreset)(s|sec|secs|seconds|ms|milliseconds)?$/;

function sentenceWaitMs(text: string, clocks: Clocks): number | undefined {
  const [, count, unit] =
    /(?:retry|again|available|wait|resets?)\b[^\d]{0,30}(\d+(?:\.\d+)?)(?![-:\d]) ?(ms|milli|m|h)?/i.exec(
      text,
    ) ?? [];
  const size = { ms: 1, milli: 1, m: 60_000, h: 3_600_000 }[unit?.toLowerCase() ?? ''];
  return size === undefined ? waitIn(count, clocks) : Number(count) * size;
}

/** No `Retry-After` holds requests back for longer, in ms: a number beyond a day was mostly not meant as seconds. */
export const longestHoldMs = 24 * 3_600_000;

/** Holds all requests to one origin back for as long as an answer to any of them asked to wait; by the monotonic clock. */
export class RateGate {
  readonly #clock: Clock;
  #until = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(ms: number): void {
    this.#until = Math.max(this.#until, this.#clock.steady() + Math.min(ms, longestHoldMs));
  }

  /** Milliseconds until requests may go out; 0 or less: now. */
  get waitMs(): number {
    return this.#until - this.#clock.steady();
  }

  async pass(signal: AbortSignal): Promise<void> {
    for (let wait = this.waitMs; wait > 0; wait = this.waitMs) await this.#clock.sleep(wait, signal);
  }
}
