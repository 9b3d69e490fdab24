import type { Clock } from '../../time/clock.ts';

/** Work that may be done at once, in milliseconds, so that all of a few in a row is done. */
const burstMs = 250;

/**
 * The same work, in at most a tenth of the time: undefined instead of what would take more. For what a stranger causes and
 * nothing depends on.
 */
export function withinTenth<Args extends readonly unknown[], T>(
  clock: Pick<Clock, 'steady'>,
  work: (...args: Args) => T,
): (...args: Args) => T | undefined {
  let owed = 0;
  let last = clock.steady();
  return (...args) => {
    const start = clock.steady();
    owed = Math.max(0, owed - (start - last) / 10);
    last = start;
    if (owed > burstMs) return undefined;
    const result = work(...args);
    owed += clock.steady() - start;
    return result;
  };
}
