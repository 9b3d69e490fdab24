const day = 86_400_000;
const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses a point in time of a flag: an ISO 8601 date or date-time (UTC without a zone), `today`, `yesterday`, `now`, or a
 * duration, which means that long ago. Milliseconds since the epoch, or undefined when it is none of these.
 */
export function parseInstant(text: string, now: number): number | undefined {
  const word = text.trim().toLowerCase();
  if (word === 'now') return now;
  if (word === 'today') return Math.floor(now / day) * day;
  if (word === 'yesterday') return (Math.floor(now / day) - 1) * day;
  const time = parseIsoTime(text.trim());
  if (time !== undefined) return time;
  const ago = parseDuration(word);
  return ago === undefined ? undefined : now - ago;
}

/**
 * An ISO 8601 date or date-time, UTC where no zone is written: milliseconds since the epoch, finer digits cut off.
 * Undefined for anything else, and for a day that the calendar does not have: it is not rolled over into the next month.
 */
export function parseIsoTime(text: string): number | undefined {
  const quickly = parseUsualTime(text);
  if (quickly !== undefined) return quickly;
  const found = iso.exec(text);
  if (found === null) return undefined;
  const [, year, month, date, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = found;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const offset = /z/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const dayInCalendar = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)));
  if (dayInCalendar.getUTCMonth() !== Number(month) - 1) return undefined;
  const value = Date.parse(
    `${year ?? ''}-${month ?? ''}-${date ?? ''}T${hour}:${minute}:${second}.${milliseconds}${offset}`,
  );
  return Number.isNaN(value) ? undefined : value;
}

/** Before each month of a year that begins with March, so that a leap day is its last one. */
const daysBefore = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];
/** From the 1st of March of the year 0 to the epoch. */
const daysToEpoch = 719_468;

/**
 * The form that nearly every lead has, `2026-01-31T12:00:00Z` or with milliseconds, up to the last day that every month
 * has; undefined for all else. A tenth of what an expression and `Date.parse` take, for each lead of a list.
 */
function parseUsualTime(text: string): number | undefined {
  const { length } = text;
  const hasMilliseconds = length === 24;
  if ((!hasMilliseconds && length !== 20) || text.charCodeAt(length - 1) !== 0x5a) return undefined;
  const isSeparated =
    text.charCodeAt(4) === 0x2d &&
    text.charCodeAt(7) === 0x2d &&
    text.charCodeAt(10) === 0x54 &&
    text.charCodeAt(13) === 0x3a &&
    text.charCodeAt(16) === 0x3a &&
    (!hasMilliseconds || text.charCodeAt(19) === 0x2e);
  if (!isSeparated) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const date = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const fraction = hasMilliseconds ? digits(text, 20, 23) : 0;
  const isUsual =
    month >= 1 && month <= 12 && date >= 1 && date <= 28 && hour < 24 && minute < 60 && second < 60;
  if (!isUsual) return undefined;
  const marchYear = month < 3 ? year - 1 : year;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  const days = marchYear * 365 + leapDays + (daysBefore[month - 1] ?? Number.NaN) + date - 1 - daysToEpoch;
  const time = days * day + ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
  return Number.isNaN(time) ? undefined : time;
}

/** NaN where they are no digits. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** 24.8 days: a timer with a longer delay fires at once (node's documentation of `setTimeout`). */
export const longestTimerMs = 2 ** 31 - 1;

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `30s`, `5m`, `2h`, `7d`, also fractions and sums such as `1h30m`: milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  }
  return total;
}

/** Milliseconds for people: `340ms`, `1.2s`, `3m 20s`, `2h 5m`, `4d 1h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}m ${Math.floor((ms % 60_000) / 1000)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The same without fractions, for what is drawn while it changes: `0s`, `20s`, `3m 20s`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1000);
}
