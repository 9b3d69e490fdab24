/** What an answer says about the rate limit. */
export interface RateHeaders {
  /** The names of the headers. */
  readonly names: readonly string[];
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** How long it is until more requests may be made, ms. */
  readonly resetMs: number | undefined;
}

const prefixes = ['x-ratelimit-', 'x-rate-limit-', 'ratelimit-'];

/** A larger number is a time since the epoch, in seconds. */
const longestWaitSeconds = 86_400 * 31;

/** Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`, and the same with `RateLimit-`; undefined without any. */
export function readRateHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): RateHeaders | undefined {
  const names = Object.keys(headers).filter(
    (name) => name === 'ratelimit' || prefixes.some((prefix) => name.startsWith(prefix)),
  );
  if (names.length === 0) return undefined;
  const number = (part: string): number | undefined => {
    for (const prefix of prefixes) {
      const found = /^\s*(\d{1,13})/.exec(headers[prefix + part] ?? '')?.[1];
      if (found !== undefined) return Number(found);
    }
    return undefined;
  };
  const reset = number('reset');
  const resetMs =
    reset === undefined
      ? undefined
      : reset <= longestWaitSeconds
        ? reset * 1000
        : (reset > 1e11 ? reset : reset * 1000) - now;
  return { names, limit: number('limit'), remaining: number('remaining'), resetMs };
}
