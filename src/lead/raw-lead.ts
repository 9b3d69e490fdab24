import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, parseExact } from '../json/exact.ts';
import { attributesOf } from '../json/resource.ts';
import { parseIsoTime } from '../time/time-text.ts';
import type { Span } from '../json/members.ts';

/** A lead as its own bytes, and the values read from them: the record is never built again from objects. */
export interface RawLead {
  /** One compact JSON object in UTF-8: exactly the sender's tokens, without white space between them. */
  readonly bytes: Uint8Array;
  /** The value of `id` if it is a string, its digits if it is an integer; otherwise undefined. */
  readonly id: string | undefined;
  /** The value of `createdAt` if it is a string, its digits if it is a number; `readCreatedAt` reads it. */
  readonly createdAt: string | undefined;
  /** The value of `category` if it is a string. */
  readonly category: string | undefined;
}

/**
 * A field by its dot path: `contact.email`, `tags.0`. A key that contains dots itself is found as well, and of JSON:API an
 * attribute by its own name.
 */
export function fieldAt(record: Json | undefined, path: readonly string[]): Json | undefined {
  const found = valueIn(record, path);
  return found === undefined ? valueIn(attributesOf(record), path) : found;
}

function valueIn(record: Json | undefined, path: readonly string[]): Json | undefined {
  if (path.length === 0) return record;
  if (Array.isArray(record)) {
    const [first = '', ...rest] = path;
    return /^\d+$/.test(first) ? valueIn((record as readonly Json[])[Number(first)], rest) : undefined;
  }
  if (!isObject(record)) return undefined;
  for (let length = 1; length <= path.length; length += 1) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(record, key)) continue;
    const found = valueIn(record[key], path.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The whole record as a value; integers that a double cannot represent are strings of their digits. */
export function parseLead(lead: Pick<RawLead, 'bytes'>): Json {
  return parseExact(utf8(lead.bytes));
}

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

/** The lead's own bytes in a body; without a place the body is the lead. */
export const leadBytes = (body: Uint8Array, place: Span | undefined): Uint8Array =>
  place === undefined ? body : body.subarray(place.start, place.end);
