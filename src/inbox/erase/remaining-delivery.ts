import { createHmac } from 'node:crypto';
import { utf8 } from '../../json/bytes.ts';
import type { Span } from '../../json/members.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { decideErased } from '../decide-verdict.ts';
import type { DeliveryContent, Group } from '../delivery-record.ts';
import type { Arrival, FindErased, TakeResult } from '../inbox.ts';

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

/** A delivery with a lead that was erased. */
interface SplitGroup {
  /** The other leads, in a delivery that holds nothing else. */
  readonly rest: readonly Arrival[];
  /** The results of all leads, in order; `taken`: those of the rest. */
  readonly results: (taken: readonly TakeResult[]) => TakeResult[];
}

/** Undefined where no lead of the delivery was erased. */
export function splitErased(group: Group, find: FindErased): SplitGroup | undefined {
  const erased = group.map(({ leadId }) => find(leadId));
  if (erased.every((lead) => lead === undefined)) return undefined;
  const others = group.filter((_, i) => erased[i] === undefined);
  const places = others.flatMap(({ place }) => place ?? []);
  const delivery = remainingDelivery(group[0].delivery, places);
  return {
    rest: others.map((arrival) => ({ ...arrival, delivery })),
    results(taken) {
      const left = [...taken];
      return group.flatMap(({ leadId }, i): TakeResult[] => {
        const lead = erased[i];
        if (lead !== undefined) return [{ ...decideErased(leadId, lead), seq: lead.seq }];
        return left.splice(0, 1);
      });
    },
  };
}

/**
 * What stays of the id of an erased lead: a keyed digest, so that nobody learns the id by trying likely ones without the
 * inbox. `key`: of the inbox. No name of a target begins as the text does, so that the key may serve for both.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // As JSON, in which half a surrogate pair has a form of its own.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();

/** Of one rejected body: each of them is looked up. */
const mostIds = 2000;

/** A member `id` whose value is a text or an integer (RFC 8259). */
const member =
  /"id"[ \t\r\n]*:[ \t\r\n]*(?:("(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?\d+))/g;

/**
 * The value of each member `id` in a body, at any depth, the first `most` of them: among them are the ids of its
 * leads, wherever they are in it, also when it was cut short or is no JSON.
 */
export function memberIds(body: Uint8Array, most = mostIds): readonly string[] {
  const ids = new Set<string>();
  for (const [, text, integer] of utf8(body).matchAll(member)) {
    ids.add(text === undefined ? (integer ?? '') : (JSON.parse(text) as string));
    if (ids.size === most) break;
  }
  return [...ids];
}

/** Whether one of the ids is that of a member of the body. */
export function hasMemberId(body: Uint8Array, ids: ReadonlySet<string>): boolean {
  return ids.size > 0 && memberIds(body, Infinity).some((id) => ids.has(id));
}
