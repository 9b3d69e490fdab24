import type { Span } from '../../json/element/members.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { DeliveryContent } from '../delivery-record.ts';

const space = 0x20;
const [openBracket, comma, closeBracket] = Buffer.from('[,]');

/**
 * The body of a delivery of several leads of which only those at `places` remain: a JSON array of their own bytes, at the
 * same positions as before, so that a place that somebody read a moment ago still fits. All else is white space.
 */
export function remainingBody(body: Uint8Array, places: readonly Span[]): Uint8Array {
  const remaining = Buffer.alloc(body.length, space);
  const ordered = [...places].sort((a, b) => a.start - b.start);
  const set = (position: number, byte: number | undefined): void => {
    if (position >= 0 && position < remaining.length && byte !== undefined) remaining[position] = byte;
  };
  for (const [i, { start, end }] of ordered.entries()) {
    remaining.set(body.subarray(start, end), start);
    // Before and behind a lead in an array there is always a byte that belongs to no lead.
    if (i === 0) set(start - 1, openBracket);
    set(end, i === ordered.length - 1 ? closeBracket : comma);
  }
  return remaining;
}

/** Headers may hold anything of an erased lead; only what the app needs to read the body stays. */
export const remainingHeaders = (headers: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
  headers.filter(([name]) => /^content-type$/i.test(name));

/** A path without its query. */
export const remainingPath = (path: string): string => path.replace(/[?#].*$/s, '');

/** A delivery of several leads, of which only those at `places` remain. */
export const remainingDelivery = (delivery: Delivery, places: readonly Span[]): Delivery => ({
  ...delivery,
  path: remainingPath(delivery.path),
  url: remainingPath(delivery.url),
  rawHeaders: remainingHeaders(delivery.rawHeaders),
  body: remainingBody(delivery.body, places),
});

/** The same of what is stored. */
export const remainingContent = (
  { path, headers, body }: DeliveryContent,
  places: readonly Span[],
): DeliveryContent => ({
  path: remainingPath(path),
  headers: remainingHeaders(headers),
  body: remainingBody(body, places),
});
