import type { ApiFault } from './faults.ts';

/** One request of the list operation and how it was answered; its fields are public. */
export interface LoggedRequest {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Null when the connection was reset instead. */
  readonly status: number | null;
  /** Leads in the answer. */
  readonly leads: number;
  readonly faults: readonly ApiFault[];
}

const keptEntries = 100_000;

/** The last hundred thousand requests of the list operation, and how often each target was requested. */
export class RequestLog {
  entries: LoggedRequest[] = [];
  #timesRequested = new Map<string, number>();
  #count = 0;

  /** Since the start, or the last reset. */
  get total(): number {
    return this.#count;
  }

  nextId(): string {
    this.#count += 1;
    return `req_${String(this.#count).padStart(6, '0')}`;
  }

  /** Names a request by its target and how often that was requested before, not by when it came. */
  keyOf(target: string): string {
    const times = (this.#timesRequested.get(target) ?? 0) + 1;
    this.#timesRequested.set(target, times);
    return `${target} ${times}`;
  }

  add(entry: LoggedRequest): void {
    this.entries.push(entry);
    if (this.entries.length > keptEntries * 1.1) this.entries = this.entries.slice(-keptEntries);
  }

  clear(): void {
    this.entries = [];
    this.#timesRequested = new Map();
    this.#count = 0;
  }
}

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
