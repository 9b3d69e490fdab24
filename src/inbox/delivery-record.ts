import { createHmac } from 'node:crypto';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherDelivery } from '../webhook/delivery-answer.ts';
import type { AttemptKind, Source, StoredDelivery, VerdictKind } from './query-types.ts';
import { utf8 } from '../json/bytes.ts';
import type { Span } from '../json/members.ts';

export interface DeliveryContent {
  readonly path: string;
  readonly headers: StoredDelivery['headers'];
  readonly body: Uint8Array;
}

export const verdictRead = (stored: unknown, reason: string | undefined): VerdictKind =>
  reason === otherEvent ? 'other' : (stored as VerdictKind);

export const kindRead = (kind: AttemptKind, source: Source): AttemptKind =>
  kind === 'forward' && source === 'backfill' ? 'repair' : kind;

export const otherEvent: OtherDelivery['reason'] = 'other_event';

const space = 0x20;
const [openBracket, comma, closeBracket] = Buffer.from('[,]');

/**
 * Makes the body of a delivery of several leads of which only those at `places` remain: a JSON array of their bytes, at the
 * same positions as before, so that a place that was read a moment ago still fits. All else is white space.
 */
function remainingBody(body: Uint8Array, places: readonly Span[]): Uint8Array {
  const remaining = Buffer.alloc(body.length, space);
  const ordered = [...places].sort((a, b) => a.start - b.start);
  const set = (position: number, byte: number | undefined): void => {
    if (position >= 0 && position < remaining.length && byte !== undefined) remaining[position] = byte;
  };
  for (const [i, { start, end }] of ordered.entries()) {
    remaining.set(body.subarray(start, end), start);
    // Before and after a lead in an array there is always a byte that belongs to no lead.
    if (i === 0) set(start - 1, openBracket);
    set(end, i === ordered.length - 1 ? closeBracket : comma);
  }
  return remaining;
}

export const redacted = '[redacted]';

/** Headers may hold anything of an erased lead; what the app needs to read the body stays, and that there was a credential. */
const remainingHeaders = (headers: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
  headers.filter(([name, value]) => value === redacted || /^content-type$/i.test(name));

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
 * `key`: of the inbox. No name of a target begins as the text does, so that the key may serve for both.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // The id is digested as JSON, in which half a surrogate pair has a form of its own.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();

/** The ids in a rejected body are looked up: so many at most. */
const mostIds = 2000;

const member =
  /"id"[ \t\r\n]*:[ \t\r\n]*(?:("(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?\d+))/g;

/**
 * Gives the value of each member `id` in a body, at any depth, the first `limit` of them. The ids of its leads are
 * among them, even if it was cut short or is no JSON.
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
