/** Counts requests in fixed windows, as most services do. */
export interface RateLimit {
  /** Counts one request: whether it is within the limit, and the headers that say how much is left. */
  take(): { readonly ok: boolean; readonly headers: Readonly<Record<string, string>> };
}

export function rateLimit(
  limit: { readonly requests: number; readonly windowMs: number } | undefined,
  now: () => number,
): RateLimit {
  if (limit === undefined) return { take: () => ({ ok: true, headers: {} }) };
  let windowEnds = -Infinity;
  let used = 0;
  return {
    take() {
      if (now() >= windowEnds) {
        windowEnds = now() + limit.windowMs;
        used = 0;
      }
      used += 1;
      const ok = used <= limit.requests;
      const seconds = Math.max(1, Math.ceil((windowEnds - now()) / 1000));
      return {
        ok,
        headers: {
          'x-ratelimit-limit': String(limit.requests),
          'x-ratelimit-remaining': String(Math.max(0, limit.requests - used)),
          'x-ratelimit-reset': String(Math.ceil(windowEnds / 1000)),
          ...(!ok && { 'retry-after': String(seconds) }),
        },
      };
    },
  };
}
