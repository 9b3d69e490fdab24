import { createHmac } from 'node:crypto';
import type { Delivery } from '../webhook/delivery.ts';
import type { StoredDelivery } from './query-types.ts';
import { closeBracket, comma, openBracket, utf8 } from '../json/bytes.ts';
import type { Span } from '../json/members.ts';
import { redacted } from './store-options.ts';

export interface DeliveryContent {
  readonly path: string;
  readonly headers: StoredDelivery['headers'];
  readonly body: Uint8Array;
}

const space = 0x20;

/**
 * Makes the body of a delivery of several leads of which only those at `places` remain: a JSON array of their bytes, at the
 * same positions as before, so that a place that was read a moment ago still fits. All else is white space.
 */
function remainingBody(body: Uint8Array, places: readonly Span[]): Uint8Array {
  const remaining = Buffer.alloc(body.length, space);
  const ordered = [...places].sort((a, b) => a.start - b.start);
  const set = (position: number, byte: number): void => {
    if (position >= 0 && position < remaining.length) remaining[position] = byte;
  };
  for (const [i, { start, end }] of ordered.entries()) {
    remaining.set(body.subarray(start, end), start);
    // Before and after a lead in an array there is always a byte that belongs to no lead.
    if (i === 0) set(start - 1, openBracket);
    set(end, i === ordered.length - 1 ? closeBracket : comma);
  }
  return remaining;
}

/** Headers may hold anything of an erased lead; what the app needs to read the body stays, and that there was a credential. */
const remainingHeaders = (headers: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
  headers.filter(([name, value]) => value === redacted || /^content-type$/i.test(name));

/** A query may name a person. */
export const remainingPath = (path: string): string => path.replace(/[?#].*$/s, '');

/** A delivery of several leads, of which only those at `places` remain. */
export const remainingDelivery = (delivery: Delivery, places: readonly Span[]): Delivery => ({
  ...delivery,
  path: remainingPath(delivery.path),
  url: remainingPath(delivery.url),
  rawHeaders: remainingHeaders(delivery.rawHeaders),
  body: remainingBody(delivery.body, places),
});

export const remainingContent = (
  { path, headers, body }: DeliveryContent,
  places: readonly Span[],
): DeliveryContent => ({
  path: remainingPath(path),
  headers: remainingHeaders(headers),
  body: remainingBody(body, places),
});

/**
 * A keyed digest stays of the id of an erased lead, so that the id cannot be found by trying likely ones without the inbox.
 * `key`: of the inbox. Names of targets are digested under it, too; none begins with `erased `.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // The id is digested as JSON, in which half a surrogate pair has a form of its own.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();

/** Ids that are looked up of one rejected body: about as many as the 16 KiB that are kept of it can hold. */
const mostIds = 2000;

const member =
  /"id"[ \t\r\n]*:[ \t\r\n]*(?:("(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?\d+))/g;

/**
 * Gives the value of each member `id` in a body, at any depth, the first `limit` of them. The ids of its leads are
 * among them, up to the limit, even if it was cut short or is no JSON.
 */
export function memberIds(body: Uint8Array, limit = mostIds): readonly string[] {
  const ids = new Set<string>();
  for (const [, text, integer] of utf8(body).matchAll(member)) {
    ids.add(text === undefined ? (integer ?? '') : (JSON.parse(text) as string));
    if (ids.size === limit) break;
  }
  return [...ids];
}

export function hasMemberId(body: Uint8Array, ids: ReadonlySet<string>): boolean {
  return ids.size > 0 && memberIds(body, Infinity).some((id) => ids.has(id));
}
