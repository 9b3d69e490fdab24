import { createHmac } from 'node:crypto';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherDelivery } from '../webhook/delivery-answer.ts';
import type { Verdict, VerdictKind } from './decide-verdict.ts';
import type { Arrival, AttemptKind, Source, StoredDelivery } from './inbox.ts';
import type { RedactDelivery } from './store-options.ts';
import { utf8 } from '../json/bytes.ts';
import type { Span } from '../json/members.ts';

/** What the leads of one delivery share, without credentials. */
export interface DeliveryContent {
  readonly path: string;
  readonly headers: StoredDelivery['headers'];
  readonly body: Uint8Array;
}

/** A stored delivery before the store gives it a number, without headers and body, which a store may keep elsewhere. */
export type DeliverySummary = Omit<StoredDelivery, 'seq' | 'headers' | 'body' | 'results'> & {
  /** When the lead was created (ms since the epoch), of its first delivery; undefined where that cannot be read. */
  readonly createdAt: number | undefined;
};

export const contentOf = (delivery: Delivery, redact: RedactDelivery): DeliveryContent => ({
  path: redact.path(delivery),
  headers: redact.headers(delivery),
  body: delivery.body,
});

/** A store keeps what is `other` as rejected, told apart by its reason, so that it has the index of those. */
export const keptVerdict = (verdict: VerdictKind): string => (verdict === 'other' ? 'rejected' : verdict);

export const verdictRead = (kept: unknown, reason: string | undefined): VerdictKind =>
  reason === otherEvent ? 'other' : (kept as VerdictKind);

/** A forward of a lead that was fetched is a repair. */
export const kindRead = (kind: AttemptKind, source: Source): AttemptKind =>
  kind === 'forward' && source === 'backfill' ? 'repair' : kind;

export const otherEvent: OtherDelivery['reason'] = 'other_event';

/** What every store keeps of a lead and its delivery. `firstSeq`: see `StoredDelivery`. */
export function summaryOf(
  {
    delivery,
    leadId,
    place,
    source,
    createdAt,
  }: Omit<Arrival, 'leadId'> & { readonly leadId: string | undefined },
  verdict: Verdict | OtherDelivery,
  path: string,
  firstSeq?: number,
): DeliverySummary {
  const { receivedAt, remote, method } = delivery;
  const untaken = 'reason' in verdict ? verdict : undefined;
  const taken = 'reason' in verdict ? undefined : verdict;
  return {
    receivedAt,
    leadId,
    verdict: verdict.kind,
    reason: untaken?.reason,
    detail: untaken?.detail,
    status: untaken?.status ?? 200,
    attempt: taken?.attempt ?? 1,
    source: source ?? 'push',
    remote,
    method,
    path,
    place: taken === undefined ? undefined : place,
    firstSeq,
    differs: taken?.differs,
    createdAt: taken?.attempt === 1 ? createdAt : undefined,
  };
}

/** The leads of one delivery, at least one. */
export type Group = readonly [Arrival, ...Arrival[]];

/** Puts arrivals that follow each other and share a delivery together; a body that is the lead has no other one. */
export function groupByDelivery(arrivals: readonly Arrival[]): readonly Group[] {
  const groups: [Arrival, ...Arrival[]][] = [];
  for (const arrival of arrivals) {
    const last = groups.at(-1);
    if (
      arrival.place !== undefined &&
      last?.[0].place !== undefined &&
      last[0].delivery === arrival.delivery
    ) {
      last.push(arrival);
    } else groups.push([arrival]);
  }
  return groups;
}

const space = 0x20;
const [openBracket, comma, closeBracket] = Buffer.from('[,]');

/**
 * The body of a delivery of several leads of which only those at `places` remain: a JSON array of their own bytes, at the
 * same positions as before, so that a place that somebody read a moment ago still fits. All else is white space.
 */
function remainingBody(body: Uint8Array, places: readonly Span[]): Uint8Array {
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

/** Stands for the value of a header that held a credential: credentials are not stored. */
export const redacted = '[redacted]';

/** Headers may hold anything of an erased lead; what the app needs to read the body stays, and that there was a credential. */
const remainingHeaders = (headers: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
  headers.filter(([name, value]) => value === redacted || /^content-type$/i.test(name));

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
