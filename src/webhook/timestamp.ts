import type { Authentic } from './scheme.ts';
import { type Rejection, rejection } from './delivery-answer.ts';
import type { TimestampFormat } from './scheme-options.ts';

/** Stripe, Slack, Svix and Standard Webhooks advise five minutes. */
export const defaultToleranceMs = 300_000;

const integer = /^(0|[1-9]\d{0,14})$/;
const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Milliseconds since the epoch; undefined unless the text is exactly such a time, without signs, spaces or
 * fractions.
 */
export function parseTimestamp(text: string, format: TimestampFormat): number | undefined {
  if (format === 'iso') {
    const value = iso.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(value) ? undefined : value;
  }
  return integer.test(text) ? Number(text) * (format === 'unix' ? 1000 : 1) : undefined;
}

/** Between 2001 and 2100. Seconds read as milliseconds are earlier, milliseconds read as seconds are later. */
export const isPlausible = (ms: number | undefined): ms is number =>
  ms !== undefined && ms > 1e12 && ms < 4.1e12;

export function formatTimestamp(ms: number, format: TimestampFormat): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : Math.floor(ms));
}

/**
 * All times are in milliseconds. A stale delivery may be a replay, and one from the future could be replayed
 * for longer than the tolerance.
 */
export function checkTimestamp(
  { timestamp }: Pick<Authentic, 'timestamp'>,
  toleranceMs: number | undefined,
  now: number,
): { ok: true } | Rejection {
  if (toleranceMs === undefined) return { ok: true };
  if (timestamp === undefined) return rejection('missing_timestamp', 'the delivery carries no signed time');
  const age = now - timestamp;
  // The comparison is written so that a time which is not a number is refused.
  if (!(age <= toleranceMs)) {
    return rejection(
      'stale_timestamp',
      `it was signed ${formatAge(age)} ago, more than the tolerated ${formatAge(toleranceMs)}`,
    );
  }
  if (-age > toleranceMs) {
    return rejection(
      'future_timestamp',
      `it was signed ${formatAge(-age)} in the future, more than the tolerated ${formatAge(toleranceMs)}`,
    );
  }
  return { ok: true };
}

function formatAge(ms: number): string {
  const [, size, unit] = units.find(([minimum]) => ms >= minimum) ?? [0, 1000, 's'];
  return `${Math.round(ms / size)} ${unit}`;
}

const units = [
  [172_800_000, 86_400_000, 'days'],
  [7_200_000, 3_600_000, 'hours'],
  [900_000, 60_000, 'minutes'],
] as const;
