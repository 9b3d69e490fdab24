import type { PostResult } from '../../http/client/post.ts';
import { type RetrySchedule, waitsAskedFor } from '../../sender/retry-schedule.ts';

const second = 1000;

/** Twenty attempts in under three minutes: of a receiver that fails half the time, one lead in a million is left. */
const waitsMs = [1, 2, 4, 8, ...Array.from({ length: 15 }, () => 10)].map((seconds) => seconds * second);

/** Attempts for one lead at a receiver that has acknowledged nothing so far. */
const attemptsWithoutSuccess = 5;

/**
 * When a delivery of a repair is tried again: only where trying again may help, and only a few times before the receiver
 * has acknowledged anything. `now` in milliseconds since the epoch.
 */
export function repairSchedule(hasAcknowledged: () => boolean, now: () => number): RetrySchedule {
  const waits = waitsAskedFor(waitsMs, now);
  return (number, result) => {
    if (!mayPass(result)) return undefined;
    if (number >= attemptsWithoutSuccess && !hasAcknowledged()) return undefined;
    return waits(number, result);
  };
}

/** A certificate that is not trusted, a wrong secret or a path that is not there stay as they are. */
const mayPass = (result: PostResult): boolean =>
  result.ok
    ? result.status >= 500 || [408, 425, 429].includes(result.status)
    : !/CERT|SIGNATURE|ISSUER|SSL|EPROTO|^HPE_/.test(result.code);
