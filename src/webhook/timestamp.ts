import type { Authentic } from './scheme.ts';
import { type Rejection, rejection } from './delivery-answer.ts';
import type { TimestampFormat } from './scheme-options.ts';

/** Stripe, Slack, Svix and Standard Webhooks advise five minutes. */
export const defaultToleranceMs = 300_000;

/** At most 15 digits, which a number of JavaScript holds exactly. */
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

/** Reads the time that a delivery carries, which `source` names; it is undefined where the scheme has none. */
export function readTimestamp(
  text: string | undefined,
  format: TimestampFormat,
  source: string,
): { readonly ok: true; readonly ms: number | undefined } | Rejection {
  const ms = text === undefined ? undefined : parseTimestamp(text, format);
  return text === undefined || ms !== undefined
    ? { ok: true, ms }
    : rejection('malformed_timestamp', `${source} is not a time in the form '${format}'`);
}

/** Between 2001 and 2099. Seconds read as milliseconds are earlier, milliseconds read as seconds are later. */
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
  // A time that is not a number is refused: for NaN, `age > toleranceMs` would be false.
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
  const [unitMs, unit] = largeUnits.find(([, , minimumMs]) => ms >= minimumMs) ?? [1000, 's'];
  return `${Math.round(ms / unitMs)} ${unit}`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const largeUnits: readonly (readonly [unitMs: number, unit: string, minimumMs: number])[] = [
  [dayMs, 'days', 2 * dayMs],
  [hourMs, 'hours', 2 * hourMs],
  [minuteMs, 'minutes', 15 * minuteMs],
];
