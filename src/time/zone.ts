const minute = 60_000;
const day = 86_400_000;

/** Offsets change at whole quarters of an hour. */
export const quarter = 15 * minute;
const maxCached = 10_000;

interface ZoneOffsets {
  readonly format: Intl.DateTimeFormat;
  readonly cache: Map<number, number>;
}

/**
 * For each zone, offsets in milliseconds by the number of the quarter since the epoch: formatting a time takes several
 * microseconds.
 */
const zones = new Map<string, ZoneOffsets>();

/**
 * Returns a time zone of this runtime, such as `Europe/Madrid`, in its usual case; undefined for any other
 * text.
 */
export function zoneNamed(text: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    // Releases of the runtime prefer different names of the same zone.
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns how far a zone is ahead of UTC at a moment; both in milliseconds. */
export function offsetAt(time: number, zone: string): number {
  if (zone === 'UTC') return 0;
  let offsets = zones.get(zone);
  if (offsets === undefined) {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    zones.set(zone, (offsets = { format, cache: new Map() }));
  }
  const key = Math.floor(time / quarter);
  const cached = offsets.cache.get(key);
  if (cached !== undefined) return cached;
  if (offsets.cache.size >= maxCached) offsets.cache.clear();
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(offsets.format.format(time)) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  const offset = sign === '-' ? -ms : ms;
  offsets.cache.set(key, offset);
  return offset;
}

/** Returns the time that a clock in the zone shows, as if it were UTC. */
const wallTime = (time: number, zone: string): number => time + offsetAt(time, zone);

/**
 * Returns the moment of a local time in milliseconds since the epoch. It is the first of two moments where
 * clocks are set back. Where they are set forward, it is later by the skipped time, so that a day without
 * midnight begins with its first moment.
 */
export function instantOf(wall: number, zone: string): number {
  const before = wall - offsetAt(wall - day, zone);
  const after = wall - offsetAt(wall + day, zone);
  const moments = [before, after].filter((time) => wallTime(time, zone) === wall);
  const isSkipped = moments.length === 0;
  return isSkipped ? before : Math.min(...moments);
}

/**
 * Returns the first moment of the day, or of the ISO week, around a moment; `later` counts days or weeks
 * after it.
 */
export function startOfDays(time: number, unit: 'day' | 'week', zone: string, later = 0): number {
  const today = Math.floor(wallTime(time, zone) / day) * day;
  const begin = unit === 'day' ? today : today - daysAfterMonday(today) * day;
  return instantOf(begin + later * (unit === 'day' ? 1 : 7) * day, zone);
}

const daysAfterMonday = (wall: number): number => (new Date(wall).getUTCDay() + 6) % 7;

/** Formats ISO 8601 to the second, or finer with `digits`, with the offset of the zone or `Z` for UTC. */
export function formatInstant(time: number, zone: string, digits = false): string {
  const offset = offsetAt(time, zone);
  const wall = new Date(time + offset).toISOString();
  const cut = digits ? wall : wall.replace(/\.\d+Z$/, 'Z');
  if (zone === 'UTC') return cut;
  const minutes = Math.abs(Math.trunc(offset / minute));
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${cut.slice(0, -1)}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A half-open range in milliseconds since the epoch. */
export interface Stretch {
  readonly since: number;
  readonly until: number;
}

/**
 * Parses a whole stretch of the calendar: `2026`, `2026-10`, `2026-W42` (ISO 8601), `2026-10-31`, `today`,
 * `yesterday`, and `this-` and `last-` with `week`, `month` and `year`. Undefined for any other text, and for
 * a stretch that the calendar does not have.
 */
export function parseStretch(text: string, now: number, zone: string): Stretch | undefined {
  const days = calendarDays(text.trim().toLowerCase(), Math.floor(wallTime(now, zone) / day) * day);
  if (days === undefined) return undefined;
  const [since, until] = days;
  return { since: instantOf(since, zone), until: instantOf(until, zone) };
}

function calendarDays(word: string, today: number): readonly [number, number] | undefined {
  if (word === 'today') return [today, today + day];
  if (word === 'yesterday') return [today - day, today];
  const [, which, unit] = /^(this|last)-(week|month|year)$/.exec(word) ?? [];
  const back = which === 'last' ? 1 : 0;
  if (unit === 'week') {
    const monday = today - daysAfterMonday(today) * day;
    return [monday - back * 7 * day, monday + (1 - back) * 7 * day];
  }
  const date = new Date(today);
  if (unit === 'month') return monthsFrom(date.getUTCFullYear(), date.getUTCMonth() - back, 1);
  if (unit === 'year') return monthsFrom(date.getUTCFullYear() - back, 0, 12);
  const [, year, week, month, dayOfMonth] =
    /^(\d{4})(?:-w(\d\d)|-(\d\d)(?:-(\d\d))?)?$/
      .exec(word)
      ?.map((part) => (part ? Number(part) : undefined)) ?? [];
  if (year === undefined || year < 100) return undefined;
  if (week !== undefined) return isoWeek(year, week);
  if (month === undefined) return monthsFrom(year, 0, 12);
  if (month < 1 || month > 12) return undefined;
  if (dayOfMonth === undefined) return monthsFrom(year, month - 1, 1);
  const begin = Date.UTC(year, month - 1, dayOfMonth);
  return new Date(begin).getUTCDate() === dayOfMonth ? [begin, begin + day] : undefined;
}

const monthsFrom = (year: number, month: number, count: number): readonly [number, number] => [
  Date.UTC(year, month, 1),
  Date.UTC(year, month + count, 1),
];

/** A week belongs to the year of its Thursday; the fourth of January is always in the first week. */
function isoWeek(year: number, week: number): readonly [number, number] | undefined {
  const fourth = Date.UTC(year, 0, 4);
  const monday = fourth + (7 * (week - 1) - daysAfterMonday(fourth)) * day;
  const isOfYear = new Date(monday + 3 * day).getUTCFullYear() === year;
  return week > 0 && isOfYear ? [monday, monday + 7 * day] : undefined;
}
