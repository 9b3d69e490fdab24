import { readLead } from '../lead/read-lead.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import { jsonContent } from './content-type.ts';
import { checkTarget } from './check-head.ts';
import type { Delivery } from './delivery.ts';
import type { Key, Scheme } from './scheme.ts';
import { checkTimestamp } from './timestamp.ts';
import { type Rejection, rejection } from './rejection.ts';

/** Who may deliver, and where. */
export interface Policy {
  /** The only path taken, without query; undefined takes any. */
  readonly path: string | undefined;
  readonly scheme: Scheme;
  readonly keys: readonly Key[];
}

/** A delivery that may be stored: authentic, in time, and one lead. Whether it is new, the inbox decides. */
export interface CheckedDelivery {
  readonly kind: 'lead';
  readonly delivery: Delivery;
  readonly lead: RawLead;
  readonly leadId: string;
  /** Index of the key that matched; -1 when nothing was verified. */
  readonly key: number;
  /** Part of what was signed; the inbox binds it, under its `nonceKey`, to the body's digest. */
  readonly nonce?: string | undefined;
  /** Signed time, milliseconds since the epoch. */
  readonly timestamp?: number | undefined;
  /** Deviations from the specification that are no reason to reject a lead. */
  readonly warnings: readonly string[];
}

/** Of an id, in bytes of UTF-8: it is part of the answer, and a key of the inbox. */
const longestId = 512;

/**
 * The order of work for a delivery whose size was checked already: path and method, credential over the raw bytes,
 * content type, signed time, then JSON. Nothing is parsed before the sender is authenticated. `now` in milliseconds since
 * the epoch. Never throws, whatever was sent.
 */
export function checkDelivery(delivery: Delivery, policy: Policy, now: number): CheckedDelivery | Rejection {
  const wrongTarget = checkTarget(delivery, policy);
  if (wrongTarget !== undefined) return wrongTarget;
  const authentic = policy.scheme.authenticate(delivery, policy.keys);
  if (!authentic.ok) return rejection(authentic.reason, authentic.detail);
  const content = jsonContent(delivery);
  if (!content.ok) return rejection(content.reason, content.detail);
  const time = checkTimestamp(authentic, policy.scheme.toleranceMs, now);
  if (!time.ok) return rejection(time.reason, time.detail);
  const read = readLead(delivery.body);
  if (!read.ok) return rejection(isJson(delivery.body) ? 'not_a_lead' : 'not_json', read.detail);
  const { lead, warnings } = read;
  const { id: leadId } = lead;
  if (leadId === undefined) return rejection('not_a_lead', 'the lead has no usable id');
  if (Buffer.byteLength(leadId) > longestId) {
    return rejection('not_a_lead', `'id' is longer than ${longestId} bytes`);
  }
  const { key, nonce, timestamp } = authentic;
  return { kind: 'lead', delivery, lead, leadId, key, nonce, timestamp, warnings };
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}
