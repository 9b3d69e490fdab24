import { utf8 } from '../json/bytes.ts';
import { isObject, jsonIn } from '../json/exact.ts';
import { holdsLeadField } from '../lead/read-leads.ts';
import { equalInConstantTime } from './crypto/signature.ts';
import { type Delivery, headerValues } from './delivery.ts';
import { handshakes } from './presets.ts';
import { otherDelivery, type OtherDelivery, type Rejection, rejection } from './delivery-answer.ts';
import type { Handshake, Scheme } from './scheme.ts';

/** Whether genuine deliveries without any field of a lead are taken as other events, and what says so. */
export interface OtherEvents {
  readonly areTaken: boolean;
  readonly option: string;
}

/** What is made of a genuine body in which no lead can be read: one that may be a lead is never another event, and lost. */
export function answerOtherEvent(
  json: unknown,
  detail: string,
  { areTaken, option }: OtherEvents,
): OtherDelivery | Rejection | undefined {
  if (holdsLeadField(json)) return undefined;
  return areTaken
    ? otherDelivery('other_event', 'no field of a lead is in it')
    : rejection('not_a_lead', `${detail}; ${option} takes it as another event`);
}

/**
 * What a vendor's handshake is answered; undefined for any other delivery. A POST must be authentic already; a GET proves
 * itself by the verify token.
 */
export function answerHandshake(delivery: Delivery, scheme: Scheme): OtherDelivery | Rejection | undefined {
  for (const handshake of handshakes[scheme.name] ?? []) {
    const fields = fieldsOf(delivery, handshake);
    if (fields === undefined) continue;
    const { echo, verifyToken, answer = { status: 200, body: {} } } = handshake;
    const problem = verifyToken === undefined ? undefined : wrongToken(fields[verifyToken], scheme);
    if (problem !== undefined) return problem;
    const content = echo === undefined ? '' : fields[echo];
    if (typeof content !== 'string') continue;
    const text = handshake.answer === undefined ? { type: 'text/plain', content } : undefined;
    return otherDelivery('handshake', `the registration at ${scheme.name} was answered`, { ...answer, text });
  }
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** What it says, where it is that handshake. */
function fieldsOf(
  delivery: Delivery,
  { method = 'POST', header, fields: wanted = {} }: Handshake,
): Fields | undefined {
  if (delivery.method !== method) return undefined;
  if (header !== undefined && headerValues(delivery, header[0]).join() !== header[1]) return undefined;
  const fields = method === 'POST' ? membersOf(delivery.body) : parametersOf(delivery.path);
  return Object.entries(wanted).every(([name, value]) => fields[name] === value) ? fields : undefined;
}

const parametersOf = (path: string): Fields =>
  Object.fromEntries(new URLSearchParams(path.slice(path.indexOf('?') + 1)));

function membersOf(body: Uint8Array): Fields {
  const json = jsonIn(utf8(body));
  // What is no JSON is no handshake, and is rejected as such behind this.
  return isObject(json) ? json : {};
}

function wrongToken(given: unknown, { name, verifyToken }: Scheme): Rejection | undefined {
  if (verifyToken === undefined) {
    return rejection(
      'wrong_method',
      `a registration at ${name} is answered once the scheme has a verifyToken`,
    );
  }
  return equalInConstantTime(Buffer.from(verifyToken.reveal()), Buffer.from(String(given)))
    ? undefined
    : rejection('wrong_verify_token', 'the verify token is not that of the scheme');
}
