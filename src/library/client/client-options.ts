import { misplacedInProfile } from '../../config/file/check-config.ts';
import type { Dialect } from '../../config/dialect.ts';
import { UsageError } from '../../errors.ts';
import type { Json } from '../../json/exact.ts';
import { longestTimerMs } from '../../time/duration.ts';

/** One account, and how its service is asked. */
export interface ClientOptions {
  /**
   * Address of the service: https, or http to a loopback address only, since the key travels with every request. The key
   * is sent to this origin and to no other.
   */
  readonly baseUrl: string | URL;
  /**
   * The API key, or a function that gives it, called once when an iteration begins. An environment variable can be given as
   * it is: one that is not set is a `UsageError`.
   */
  readonly apiKey: string | undefined | (() => string | Promise<string>);
  /** How this service names what the specification leaves open; what is missing is found out from its answers. */
  readonly dialect?: Dialect | undefined;
  /** For connecting, for the first header, and for each wait for more of an answer; milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed request is tried again. Default 5. */
  readonly retries?: number | undefined;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are looked up, such as `process.env`. Default: nowhere. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Throws a `UsageError` for options that have another form. What is wrong is named, values are not: one is the key. */
export function checkClientOptions({ apiKey, dialect, timeoutMs, retries }: ClientOptions): void {
  if (typeof apiKey === 'string') checkKey(apiKey);
  else if (typeof apiKey !== 'function') {
    throw new UsageError('apiKey is missing', {
      hint: 'it is a text, or a function that gives one; is the environment variable set that it comes from?',
    });
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= longestTimerMs)) {
    throw new UsageError(`timeoutMs is not a number of milliseconds from 1 to ${longestTimerMs}`);
  }
  if (retries !== undefined && !(Number.isInteger(retries) && retries >= 0)) {
    throw new UsageError('retries is not a whole number from 0');
  }
  const path = misplacedInProfile({ api: withoutUndefined(dialect ?? {}) });
  if (path !== undefined) {
    throw new UsageError(`${['dialect', ...path.slice(1)].join('.')} is not what a dialect holds there`, {
      hint: "'leads help dialect' lists what a dialect holds",
    });
  }
}

/** Throws a `UsageError` for a key that no header can hold: it is a mistake in copying, and every request would fail. */
export function checkKey(apiKey: unknown): asserts apiKey is string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new UsageError('apiKey is empty');
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new UsageError('apiKey holds white space or other characters that cannot be part of a key');
}

const withoutUndefined = (dialect: object): Json => JSON.parse(JSON.stringify(dialect)) as Json;
