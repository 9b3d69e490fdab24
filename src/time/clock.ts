import { longestTimerMs } from './time-text.ts';

/**
 * The time as a dependency. `now` is in milliseconds since the epoch; `sleep` rejects with the signal's
 * reason when aborted.
 */
export interface Clock {
  now(): number;
  /** The monotonic clock in milliseconds: it does not change when the system's time is set. */
  steady(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Returns whether the whole time passed; false where the signal ended it. */
export const slept = (clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): Promise<boolean> =>
  clock.sleep(ms, signal).then(
    () => true,
    () => false,
  );

export const systemClock: Clock = {
  now: Date.now,
  steady: () => performance.now(),
  async sleep(ms, signal) {
    let remaining = ms;
    do {
      await sleepOnce(Math.min(remaining, longestTimerMs), signal);
      remaining -= longestTimerMs;
    } while (remaining > 0);
  },
};

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * How far the clock of a service is ahead of the one here, in ms, by the `Date` of an answer; undefined without a `Date`. The answer
 * was made at some time between `askedAt` and `receivedAt`, which may be far apart: a machine may sleep meanwhile. A time in between
 * is no drift.
 */
export function driftOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  askedAt: number,
  receivedAt: number,
): number | undefined {
  const serviceTime = Date.parse(String(headers['date']));
  if (Number.isNaN(serviceTime)) return undefined;
  // A cache passes on the `Date` of the service with the time since then (RFC 9111, section 5.1), in seconds.
  const ageSeconds = Number(/^\d{1,9}$/.exec(String(headers['age']))?.[0] ?? '0');
  // `Date` names a whole second, whose middle is the likeliest time.
  const answeredAt = serviceTime + ageSeconds * 1000 + 500;
  return Math.min(0, answeredAt - askedAt) + Math.max(0, answeredAt - receivedAt);
}
