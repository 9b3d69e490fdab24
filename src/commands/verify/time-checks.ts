import type { Authentic, Scheme } from '../../webhook/scheme.ts';
import { isPlausible } from '../../webhook/explain/custom-flags.ts';
import type { RejectReason } from '../../webhook/rejection.ts';
import { checkTimestamp } from '../../webhook/timestamp.ts';
import { formatDuration } from '../../time/duration.ts';
import type { Check } from './report/report.ts';

/** When a delivery is checked for, in milliseconds since the epoch. */
export interface CheckTimes {
  readonly now: number;
  /** `--at`. */
  readonly asked: number | undefined;
  /** The capture's own. */
  readonly captured: number | undefined;
}

interface TimeVerdict {
  readonly checks: readonly Check[];
  /** Why the time makes the delivery one that must be rejected; undefined where it does not. */
  readonly late: RejectReason | undefined;
}

/**
 * Whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is too
 * old by now is genuine nevertheless; so is one that was in time then.
 */
export function timeChecks(
  authentic: Authentic,
  { toleranceMs }: Pick<Scheme, 'toleranceMs'>,
  { now, asked, captured }: CheckTimes,
): TimeVerdict {
  const { timestamp } = authentic;
  if (timestamp === undefined || toleranceMs === undefined) return { late: undefined, checks: [] };
  const at = asked ?? captured;
  const then = checkTimestamp(authentic, toleranceMs, at ?? now);
  const tolerated = `${formatDuration(toleranceMs).replace(/ 0[smh]$/, '')} is tolerated`;
  if (at === undefined && !then.ok && then.reason === 'stale_timestamp' && isPlausible(timestamp)) {
    const hint = 'give the time at which it was received with --at';
    return {
      late: undefined,
      checks: [{ name: 'now', ok: false, detail: `stale by now: ${then.detail}; ${hint}` }],
    };
  }
  const what =
    asked !== undefined ? 'the time asked for' : captured !== undefined ? 'it was captured' : 'now';
  if (!then.ok) {
    const detail = at === undefined ? then.detail : `at ${new Date(at).toISOString()}, ${then.detail}`;
    return { late: then.reason, checks: [{ name: 'time', ok: false, detail }] };
  }
  const ageMs = (at ?? now) - timestamp;
  const side = ageMs < 0 ? 'after' : 'before';
  const inTime: Check = {
    name: 'time',
    ok: true,
    detail: `signed ${formatDuration(Math.abs(ageMs))} ${side} ${what}; ${tolerated}`,
  };
  const today = checkTimestamp(authentic, toleranceMs, now);
  if (at === undefined || today.ok) return { late: undefined, checks: [inTime] };
  return {
    late: undefined,
    checks: [inTime, { name: 'now', ok: false, detail: `stale by now: ${today.detail}` }],
  };
}
