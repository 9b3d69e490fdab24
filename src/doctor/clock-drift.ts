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

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The service's `Date` against the clock here, in milliseconds; positive: the service is ahead. Undefined without one. */
export function driftOf(headers: Headers, receivedAt: number): number | undefined {
  const theirs = Date.parse(String(headers['date']));
  // A cache passes on the `Date` of the service with the time since then (RFC 9111, section 5.1), in seconds.
  const age = /^\d{1,9}$/.exec(String(headers['age']))?.[0] ?? '0';
  // In the middle of the second that it names.
  return Number.isNaN(theirs) ? undefined : theirs + Number(age) * 1000 + 500 - receivedAt;
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
