import type { Span } from '../json/element/members.ts';
import { type FoundLead, type LeadAt, readLeads } from '../lead/read-leads.ts';
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
  /** Where the lead is in the body. Default `auto`. */
  readonly leadAt?: LeadAt | undefined;
  /** The flag or setting that says so, for messages. Default `--lead-at`. */
  readonly leadAtSaidBy?: string | undefined;
}

/** A lead of a delivery that was checked. */
export interface CheckedLead {
  readonly lead: RawLead;
  readonly leadId: string;
  /** Its own bytes in the body; undefined when it is the body. */
  readonly place?: Span | undefined;
  /** Deviations from the specification that are no reason to reject a lead. */
  readonly warnings: readonly string[];
}

/** A delivery that may be stored: authentic, in time, and with leads. Whether they are new, the inbox decides. */
export interface CheckedDelivery {
  readonly kind: 'leads';
  readonly delivery: Delivery;
  /** At least one. */
  readonly leads: readonly CheckedLead[];
  /** Index of the key that matched; -1 when nothing was verified. */
  readonly key: number;
  /** Part of what was signed; the inbox binds it, under its `nonceKey`, to the body's digest. */
  readonly nonce?: string | undefined;
  /** Signed time, milliseconds since the epoch. */
  readonly timestamp?: number | undefined;
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
  const read = readLeads(delivery.body, policy.leadAt ?? 'auto', policy.leadAtSaidBy);
  if (!read.ok) {
    const reason = isJson(delivery.body) ? 'not_a_lead' : 'not_json';
    return rejection(read.isTooMany === true ? 'too_large' : reason, read.detail);
  }
  const leads: CheckedLead[] = [];
  for (const found of read.leads) {
    const { id: leadId } = found.lead;
    const problem = problemOf(leadId);
    if (leadId === undefined || problem !== undefined) {
      const which = read.leads.length === 1 ? '' : `lead ${leads.length + 1}: `;
      return rejection('not_a_lead', `${which}${problem ?? ''}`);
    }
    leads.push({ lead: found.lead, leadId, place: found.place, warnings: found.warnings });
  }
  const { key, nonce, timestamp } = authentic;
  return { kind: 'leads', delivery, leads, key, nonce, timestamp };
}

function problemOf(leadId: FoundLead['lead']['id']): string | undefined {
  if (leadId === undefined) return 'the lead has no usable id';
  return Buffer.byteLength(leadId) > longestId ? `'id' is longer than ${longestId} bytes` : undefined;
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}
