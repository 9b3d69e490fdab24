import { parseDuration } from './duration.ts';

const day = 86_400_000;
const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * A point in time as a user writes one: ISO 8601 date or date-time (UTC without a zone), `today`, `yesterday`, `now`,
 * or a duration meaning that long ago. Milliseconds since the epoch, or undefined when it is none of these.
 */
export function parseInstant(text: string, now: number): number | undefined {
  const word = text.trim().toLowerCase();
  if (word === 'now') return now;
  if (word === 'today') return Math.floor(now / day) * day;
  if (word === 'yesterday') return (Math.floor(now / day) - 1) * day;
  const stamp = parseIsoTime(text.trim());
  if (stamp !== undefined) return stamp;
  const ago = parseDuration(word);
  return ago === undefined ? undefined : now - ago;
}

/** ISO 8601 only; a day that the calendar does not have is refused instead of rolled over. */
export function parseIsoTime(text: string): number | undefined {
  const found = iso.exec(text);
  if (found === null) return undefined;
  const [, year, month, date, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = found;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const colon = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  const day31 = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)));
  if (day31.getUTCMonth() !== Number(month) - 1) return undefined;
  const value = Date.parse(
    `${year ?? ''}-${month ?? ''}-${date ?? ''}T${hour}:${minute}:${second}.${milliseconds}${colon}`,
  );
  return Number.isNaN(value) ? undefined : value;
}
