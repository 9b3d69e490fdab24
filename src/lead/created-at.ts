import { parseIsoTime } from '../time/time-text.ts';
import type { RawLead } from './raw-lead.ts';

/** Of RFC 2822, section 3.3, with the obsolete names of zones that `Date.parse` reads as well. */
const mailTime =
  /^(?:[a-z]{3},\s*)?(\d{1,2}) ([a-z]{3}) (\d{4}) \d\d:\d\d(?::\d\d)? (?:[+-]\d{4}|GMT|UTC?|[ECMP][SD]T)$/i;

/** A number counts seconds or milliseconds since the epoch: from 1973 to 2286, its digits tell which. */
const seconds = /^\d{9,10}(?:\.\d+)?$/;
const milliseconds = /^\d{12,13}(?:\.\d+)?$/;

/**
 * The one reading of a lead's `createdAt`, and of the times that are compared with it: milliseconds since the epoch, or
 * undefined for what is no time in ISO 8601 (UTC where no zone is written), in seconds, in milliseconds or of RFC 2822.
 */
export function readCreatedAt(createdAt: unknown): number | undefined {
  if (typeof createdAt === 'number') return readCreatedAt(String(createdAt));
  if (typeof createdAt !== 'string') return undefined;
  const time = parseIsoTime(createdAt);
  if (time !== undefined) return time;
  if (seconds.test(createdAt)) return Math.floor(Number(createdAt) * 1000);
  return milliseconds.test(createdAt) ? Math.floor(Number(createdAt)) : parseMailTime(createdAt);
}

/** `Date.parse` rolls a day that the calendar does not have over into the next month: such a time is none. */
function parseMailTime(text: string): number | undefined {
  const [, day, month = '', year = ''] = mailTime.exec(text) ?? [];
  if (day === undefined) return undefined;
  const isInCalendar = new Date(`${day} ${month} ${year} 00:00 Z`).getUTCDate() === Number(day);
  const time = isInCalendar ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** When the last of these was created, where none is younger than the one before it; otherwise undefined. */
export function oldestOfNewestFirst(leads: readonly RawLead[]): number | undefined {
  let before = Number.POSITIVE_INFINITY;
  for (const { createdAt } of leads) {
    const time = readCreatedAt(createdAt);
    if (time === undefined || time > before) return undefined;
    before = time;
  }
  return leads.length === 0 ? undefined : before;
}

/** By creation time, whatever the order of the service; a lead whose time cannot be read stays behind its predecessor. */
export function oldestFirst(leads: readonly RawLead[]): RawLead[] {
  // As a rule a service lists the newest first: of leads with one time, the last is then the oldest.
  let before = -Infinity;
  const timed = leads.toReversed().map((lead) => {
    before = readCreatedAt(lead.createdAt) ?? before;
    return { lead, time: before };
  });
  return timed.sort((a, b) => a.time - b.time).map(({ lead }) => lead);
}
