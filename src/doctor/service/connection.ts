import type { Clock } from '../../time/clock.ts';

/** How this machine reaches the service. */
export interface Connection {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  /** Authorities that are trusted beside the usual ones, as PEM. */
  readonly authorities: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
