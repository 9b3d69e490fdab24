import { formatDuration } from '../time/time-text.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

/** `Date` has whole seconds, and an answer takes a while; ms. */
const tolerated = 5000;
/** Signed deliveries are rejected beyond this, as `webhook.tolerance` is unless set; ms. */
const harmful = 300_000;

/** What is known of the service's clock. */
export interface ClockSight {
  /** The service's clock against ours, ms; undefined where it sends no `Date`. */
  readonly drift: number | undefined;
  /** Whether any answer came, a rejection included. */
  readonly isReached: boolean;
}

/** `isReached`: whether any answer came. */
export function checkClockDrift({ drift, isReached }: ClockSight): CheckResult {
  const check = checkNamed('service.clock');
  if (drift === undefined)
    return check.skip(isReached ? 'the service sends no Date' : 'the service did not answer');
  const size = Math.abs(drift);
  if (size <= tolerated) return check.pass("this machine's clock agrees with the service's");
  const seen = `this machine's clock is ${formatDuration(size)} ${drift > 0 ? 'behind' : 'ahead of'} the service's`;
  const hint = 'set it by NTP, such as: timedatectl set-ntp true';
  return size > harmful
    ? check.fail(`${seen}: signed deliveries are rejected`, hint)
    : check.warn(seen, hint);
}
