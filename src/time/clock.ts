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
