import { createHash } from 'node:crypto';
import { type FoundLead, type LeadAt, plainId, readLeads } from '../lead/read-leads.ts';
import { type LeadAtNames, noticeRefusal } from '../lead/refusals.ts';
import { headerNotice } from '../lead/change-notices.ts';
import { type IdField, isOfPerson } from '../lead/find-leads.ts';
import { holdsPerson } from '../lead/holds-person.ts';
import { answerHandshake } from './answer-handshake.ts';
import { type Delivery, headerValues, pathOf } from './delivery.ts';
import { type OtherDelivery, type Rejection, rejection, otherDelivery } from './delivery-answer.ts';
import type { Authentic, Verifier } from './scheme.ts';
import { checkTimestamp } from './timestamp.ts';
import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../json/exact.ts';

export interface Policy extends Verifier {
  /** The only path that is accepted, without query. Undefined accepts any path. */
  readonly path: string | undefined;
  readonly leadAt?: LeadAt | undefined;
  readonly leadAtNames?: LeadAtNames | undefined;
  readonly idField?: IdField | undefined;
}

/**
 * Says whether genuine deliveries without a lead or a person are kept as other events. `option` names the
 * setting that decides it.
 */
export interface OtherEvents {
  readonly areTaken: boolean;
  readonly option: string;
}

export interface CheckedLead extends FoundLead {
  readonly leadId: string;
}

/**
 * A delivery that may be stored: authentic, in time, and with at least one lead. The inbox decides whether the
 * leads are new.
 */
export interface CheckedDelivery {
  readonly kind: 'leads';
  readonly delivery: Delivery;
  readonly source?: 'push' | 'backfill' | undefined;
  readonly leads: readonly CheckedLead[];
  readonly key: number;
  /** Part of the signed bytes. The inbox binds it, under its `nonceKey`, to the digest of the body. */
  readonly nonce?: string | undefined;
  readonly timestamp?: number | undefined;
}

/** Limits an id in bytes of UTF-8, because an id is part of the response and a key of the inbox. */
const maxIdBytes = 512;

/**
 * Checks path and method, the credential over the raw bytes, content type, signed time, then JSON: nothing is
 * parsed before the sender is authenticated. `now` is in milliseconds since the epoch. Only a receiver passes
 * `otherEvents`; it answers the handshakes of vendors too, some of which are a GET or a HEAD. This function never throws.
 */
export function checkDelivery(delivery: Delivery, policy: Policy, now: number): CheckedDelivery | Rejection;
export function checkDelivery(
  delivery: Delivery,
  policy: Policy,
  now: number,
  otherEvents: OtherEvents,
): CheckedDelivery | OtherDelivery | Rejection;
export function checkDelivery(
  delivery: Delivery,
  policy: Policy,
  now: number,
  otherEvents?: OtherEvents,
): CheckedDelivery | OtherDelivery | Rejection {
  const wrongTarget = checkTarget(delivery, policy);
  if (wrongTarget !== undefined) {
    const mayBeHandshake = otherEvents !== undefined && wrongTarget.reason === 'wrong_method';
    const handshakeAnswer = mayBeHandshake ? answerHandshake(delivery, policy.scheme) : undefined;
    return handshakeAnswer ?? wrongTarget;
  }
  const authentic = policy.scheme.authenticate(delivery, policy.keys);
  if (!authentic.ok) return authentic;
  const content = jsonContent(delivery);
  if (!content.ok) return content;
  const time = checkTimestamp(authentic, policy.scheme.toleranceMs, now);
  if (!time.ok) return time;
  const handshakeAnswer = otherEvents && answerHandshake(delivery, policy.scheme);
  if (handshakeAnswer !== undefined) return handshakeAnswer;
  const { leadAt = 'auto', leadAtNames, idField = plainId } = policy;
  const reading = readLeads(delivery.body, leadAt, leadAtNames, idField);
  if (!reading.ok) {
    if (reading.isTooMany === true) return rejection('too_large', reading.detail);
    return answerWithoutLead(delivery, reading.detail, otherEvents);
  }
  // A place that the operator named holds a lead, whatever a header says.
  const notice = leadAt === 'auto' ? noticeInHeader(delivery, reading.leads, leadAtNames) : undefined;
  if (notice !== undefined) {
    return answerWithoutLead(delivery, notice.detail, otherEvents, !notice.isDeletion);
  }
  const leads = withIds(reading.leads, idField);
  if ('reason' in leads) return leads;
  const { key, nonce, timestamp } = authentic;
  return { kind: 'leads', delivery, leads, key, nonce, timestamp };
}

/** Finds a header by which the delivery tells of a deletion, or of an object that is no person, in place of a lead. */
function noticeInHeader(
  { rawHeaders }: Delivery,
  leads: readonly FoundLead[],
  leadAtNames: LeadAtNames | undefined,
): { readonly isDeletion: boolean; readonly detail: string } | undefined {
  const notice = headerNotice(rawHeaders);
  if (notice === undefined || !(notice.isDeletion || leads.some(hasNoPerson))) return undefined;
  const { isDeletion } = notice;
  const subject = `the header ${notice.name.toLowerCase()}`;
  const pointer = leads[0]?.pointer ?? "''";
  const kind = isDeletion ? 'deletion' : 'other';
  return { isDeletion, detail: noticeRefusal(subject, kind, pointer, leadAtNames?.option) };
}

/** Leads of one delivery are stored together or not at all, so one without a usable id rejects all. */
function withIds(foundLeads: readonly FoundLead[], idField: IdField): readonly CheckedLead[] | Rejection {
  const leads: CheckedLead[] = [];
  for (const foundLead of foundLeads) {
    const leadId = foundLead.lead.id;
    const which = foundLeads.length === 1 ? '' : `lead ${leads.length + 1}: `;
    if (leadId === undefined) return rejection('not_a_lead', `${which}the lead has no usable id`);
    if (Buffer.byteLength(leadId) > maxIdBytes) {
      return rejection('not_a_lead', `${which}'${idField.name}' is longer than ${maxIdBytes} bytes`);
    }
    leads.push({ ...foundLead, leadId });
  }
  return leads;
}

/**
 * Answers a genuine body in which no lead can be read. A body that may be a lead is never another event,
 * because the lead would be lost. `isNamedOther` is true where a header names another kind of object.
 */
function answerWithoutLead(
  { body }: Delivery,
  detail: string,
  otherEvents: OtherEvents | undefined,
  isNamedOther = false,
): OtherDelivery | Rejection {
  const json = readJson(body);
  if (json === undefined) return rejection('not_json', detail);
  if (otherEvents === undefined || holdsPerson(json.value, isNamedOther))
    return rejection('not_a_lead', detail);
  return otherEvents.areTaken
    ? otherDelivery('other_event', 'no lead and no person is in it')
    : rejection('not_a_lead', `${detail}; ${otherEvents.option} takes it as another event`);
}

function hasNoPerson({ lead }: FoundLead): boolean {
  const record = jsonIn(utf8(lead.bytes));
  return !isObject(record) || !isOfPerson(record);
}

/** Undefined for what is not JSON in UTF-8; the value itself may be null. */
function readJson(body: Uint8Array): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json };
  } catch {
    return undefined;
  }
}

/** Checks the credential over the raw bytes and the signed time, and nothing else. */
export function checkCredential(
  delivery: Delivery,
  { scheme, keys }: Verifier,
  now: number,
): Authentic | Rejection {
  const verified = scheme.authenticate(delivery, keys);
  if (!verified.ok) return verified;
  const time = checkTimestamp(verified, scheme.toleranceMs, now);
  return time.ok ? verified : time;
}

function checkTarget(
  delivery: Pick<Delivery, 'path' | 'method'>,
  policy: { readonly path: string | undefined },
): Rejection | undefined {
  const path = pathOf(delivery);
  if (policy.path !== undefined && path !== policy.path) {
    return rejection('wrong_path', `nothing is received at ${path}`);
  }
  if (delivery.method !== 'POST') {
    return rejection('wrong_method', `a delivery is a POST, not a ${delivery.method}`);
  }
  return undefined;
}

/**
 * Rejects a delivery before its body is read, where its head is enough for that. A delivery that passes is not
 * authenticated yet: `checkDelivery` follows when the body is complete.
 */
export function checkHead(
  head: Delivery,
  policy: Verifier & { readonly path: string | undefined },
): Rejection | undefined {
  const wrongTarget = checkTarget(head, policy);
  if (wrongTarget !== undefined) return wrongTarget;
  const { scheme, keys } = policy;
  const hasCredential = head.rawHeaders.some(([name]) =>
    scheme.credentialHeaders.includes(name.toLowerCase()),
  );
  const needsBody = hasCredential && scheme.ignoresBody !== true;
  if (needsBody) return undefined;
  const verified = scheme.authenticate(head, keys);
  return verified.ok ? undefined : verified;
}

const mediaType = /^(?:application\/(?:[!#$&^_.+a-z0-9-]+\+)?|text\/)json$/i;

/**
 * Accepts `application/json` (specification, section 4.2) or another JSON type, without compression. It ignores
 * a `charset`, which means nothing for JSON (RFC 8259, section 11).
 */
export function jsonContent(delivery: Delivery): { ok: true } | Rejection {
  const types = headerValues(delivery, 'content-type');
  const [type] = types;
  if (type === undefined) return rejection('wrong_content_type', 'the header content-type is missing');
  if (types.length > 1) return rejection('wrong_content_type', 'the header content-type was sent twice');
  const problem = type === 'application/json' ? undefined : problemOfType(type);
  if (problem !== undefined) return rejection('wrong_content_type', problem);
  const coding = headerValues(delivery, 'content-encoding').find((value) => !/^identity$/i.test(value));
  if (coding !== undefined) {
    const detail = `the body is sent with content-encoding '${coding}'; only identity is accepted`;
    return rejection('encoded_body', detail);
  }
  return { ok: true };
}

function problemOfType(type: string): string | undefined {
  const media = type.split(';')[0]?.trim() ?? '';
  return mediaType.test(media) ? undefined : `the content type is '${media}', not application/json`;
}

/**
 * The key under which a nonce is stored. It does not depend on the secret, since a legitimate retry after a
 * rotation carries the same nonce, signed with the new secret.
 */
export const nonceKey = (scheme: string, nonce: string): string =>
  createHash('sha256').update(`${scheme}\n${nonce}`).digest('base64url');
