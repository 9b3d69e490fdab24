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
 * Makes the body of a delivery of several leads of which only those at `places` remain: a JSON array of their bytes. They stay at
 * the same positions, since places that were read before are used with the new body. Everything between them becomes blanks.
 */
function remainingBody(body: Uint8Array, places: readonly Span[]): Uint8Array {
  const remaining = Buffer.alloc(body.length, space);
  const ordered = [...places].sort((a, b) => a.start - b.start);
  const setByte = (position: number, byte: number): void => {
    if (position >= 0 && position < remaining.length) remaining[position] = byte;
  };
  for (const [i, { start, end }] of ordered.entries()) {
    remaining.set(body.subarray(start, end), start);
    // A lead in an array has a bracket, a comma or a blank before and after it, which may be replaced.
    if (i === 0) setByte(start - 1, openBracket);
    setByte(end, i === ordered.length - 1 ? closeBracket : comma);
  }
  return remaining;
}

/** Any header may hold data of an erased lead. Only the content type stays, and the headers whose values were redacted anyway. */
const remainingHeaders = (headers: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
  headers.filter(([name, value]) => value === redacted || /^content-type$/i.test(name));

/** The path without the query, which may name a person. */
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
 * The digest that stays of the id of an erased lead. It is keyed, so that the id cannot be found by trying likely ones without the
 * inbox. Names of targets are digested under the same key; `erased ` keeps both apart, since no target's name begins so.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // UTF-8 has one form for all halves of surrogate pairs, while JSON escapes each of them.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();

/** About as many ids as the 16 KiB hold that are kept of a rejected body. */
const maxIds = 2000;

/** Matches a member `id` whose value is a JSON string or an integer. */
const idMember =
  /"id"[ \t\r\n]*:[ \t\r\n]*(?:("(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?\d+))/g;

/**
 * The values of the members `id` in a body, at any depth, up to `limit` of them. The text is searched and not parsed, so that the ids of
 * leads are found even in a body that was cut short or is no JSON.
 */
export function memberIds(body: Uint8Array, limit = maxIds): readonly string[] {
  const ids = new Set<string>();
  for (const [, text, integer] of utf8(body).matchAll(idMember)) {
    ids.add(text === undefined ? (integer ?? '') : (JSON.parse(text) as string));
    if (ids.size === limit) break;
  }
  return [...ids];
}

export function hasMemberId(body: Uint8Array, ids: ReadonlySet<string>): boolean {
  return ids.size > 0 && memberIds(body, Infinity).some((id) => ids.has(id));
}
