import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, parseExact } from '../json/exact.ts';
import { attributesOf } from '../json/resource.ts';
import { parseIsoTime } from '../time/time-text.ts';
import type { Span } from '../json/members.ts';

/** A lead in its own bytes, with the values read from them: a lead is never written from objects. */
export interface RawLead {
  readonly bytes: Uint8Array;
  readonly id: string | undefined;
  readonly createdAt: string | undefined;
  readonly category: string | undefined;
}

/**
 * Returns a field by its dotted path: `contact.email`, `tags.0`. It also finds a key that contains dots, and
 * an attribute of JSON:API by its own name.
 */
export function fieldAt(record: Json | undefined, path: readonly string[]): Json | undefined {
  const value = valueIn(record, path);
  return value === undefined ? valueIn(attributesOf(record), path) : value;
}

function valueIn(record: Json | undefined, path: readonly string[]): Json | undefined {
  if (path.length === 0) return record;
  if (Array.isArray(record)) {
    const [first = '', ...inner] = path;
    return /^\d+$/.test(first) ? valueIn((record as readonly Json[])[Number(first)], inner) : undefined;
  }
  if (!isObject(record)) return undefined;
  for (let length = 1; length <= path.length; length += 1) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(record, key)) continue;
    const value = valueIn(record[key], path.slice(length));
    if (value !== undefined) return value;
  }
  return undefined;
}

export function parseLead(lead: Pick<RawLead, 'bytes'>): Json {
  return parseExact(utf8(lead.bytes));
}

/** Its digits tell whether a number counts seconds or milliseconds since the epoch, from 1973 to 2286. */
const secondsText = /^\d{9,10}(?:\.\d+)?$/;
const millisecondsText = /^\d{12,13}(?:\.\d+)?$/;

/**
 * Reads a lead's `createdAt` and the times that are compared with it, in ISO 8601 (UTC without a zone), in
 * seconds or in milliseconds. Returns milliseconds since the epoch; undefined for any other value.
 */
export function readCreatedAt(createdAt: unknown): number | undefined {
  if (typeof createdAt === 'number') return readCreatedAt(String(createdAt));
  if (typeof createdAt !== 'string') return undefined;
  const time = parseIsoTime(createdAt);
  if (time !== undefined) return time;
  if (secondsText.test(createdAt)) return Math.floor(Number(createdAt) * 1000);
  return millisecondsText.test(createdAt) ? Math.floor(Number(createdAt)) : undefined;
}

/**
 * Returns the time of the last lead, where no lead is younger than the one before it; otherwise undefined.
 */
export function oldestOfNewestFirst(leads: readonly RawLead[]): number | undefined {
  let before = Number.POSITIVE_INFINITY;
  for (const { createdAt } of leads) {
    const time = readCreatedAt(createdAt);
    if (time === undefined || time > before) return undefined;
    before = time;
  }
  return leads.length === 0 ? undefined : before;
}

/** Sorts by creation time; a lead whose time cannot be read stays after its predecessor. */
export function oldestFirst(leads: readonly RawLead[]): RawLead[] {
  // A service usually lists the newest first: of leads with the same time, the last is the oldest.
  let before = -Infinity;
  const timed = leads.toReversed().map((lead) => {
    before = readCreatedAt(lead.createdAt) ?? before;
    return { lead, time: before };
  });
  return timed.sort((a, b) => a.time - b.time).map(({ lead }) => lead);
}

export const leadBytes = (body: Uint8Array, place: Span | undefined): Uint8Array =>
  place === undefined ? body : body.subarray(place.start, place.end);

/** The beginnings of ids of generated leads, by which a receiver is tested. */
export const testIdPrefixes = { send: 'leads-send-', check: 'leads-check-' } as const;

export const isTestId = (id: string): boolean =>
  Object.values(testIdPrefixes).some((prefix) => id.startsWith(prefix));
