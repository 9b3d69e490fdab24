import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../json/exact.ts';
import { holdsPerson } from '../lead/holds-person.ts';
import { equalInConstantTime } from './crypto/signature.ts';
import { type Delivery, headerValues } from './delivery.ts';
import { type OtherDelivery, type Rejection, otherDelivery, rejection } from './delivery-answer.ts';
import { handshakes } from './vendor-presets.ts';
import type { Handshake, Scheme } from './scheme.ts';

/**
 * Answers a vendor's handshake, by which it makes sure at the registration of an address that this wants its deliveries,
 * with the text or body that the vendor expects. Undefined for any other request. The caller has authenticated a POST; a
 * GET proves itself by the verify token.
 */
export function answerHandshake(request: Delivery, scheme: Scheme): OtherDelivery | Rejection | undefined {
  for (const handshake of handshakes[scheme.name] ?? []) {
    const fields = fieldsOf(request, handshake);
    if (fields === undefined) continue;
    const { echo, verifyToken, answer = { status: 200, body: {} } } = handshake;
    const refusal = verifyToken === undefined ? undefined : refuseWrongToken(fields[verifyToken], scheme);
    if (refusal !== undefined) return refusal;
    const content = echo === undefined ? '' : fields[echo];
    if (typeof content !== 'string') continue;
    const text = handshake.answer === undefined ? { type: 'text/plain', content } : undefined;
    return otherDelivery('handshake', `the registration at ${scheme.name} was answered`, { ...answer, text });
  }
  return undefined;
}

type Fields = { readonly [key: string]: Json };

/** Returns the members of the body, or the parameters of the URL, of a request that may be this handshake. */
function fieldsOf(
  request: Delivery,
  { method = 'POST', header, fields: expectedFields = {} }: Handshake,
): Fields | undefined {
  if (request.method !== method) return undefined;
  if (header !== undefined && headerValues(request, header[0]).join() !== header[1]) return undefined;
  const fields = method === 'POST' ? membersOf(request.body) : parametersOf(request.path);
  if (Object.entries(expectedFields).some(([name, value]) => fields[name] !== value)) return undefined;
  // A lead may have such fields too, so without a header as a sign a body with a person is no handshake.
  const mayBeLead = header === undefined && method === 'POST' && holdsPerson(fields);
  return mayBeLead ? undefined : fields;
}

const parametersOf = (path: string): Fields =>
  Object.fromEntries(new URLSearchParams(path.slice(path.indexOf('?') + 1)));

function membersOf(body: Uint8Array): Fields {
  const json = jsonIn(utf8(body));
  return isObject(json) ? json : {};
}

function refuseWrongToken(token: unknown, { name, verifyToken }: Scheme): Rejection | undefined {
  if (verifyToken === undefined) {
    const detail = `a registration at ${name} is answered once the scheme has a verifyToken`;
    return rejection('wrong_method', detail);
  }
  return equalInConstantTime(Buffer.from(verifyToken.reveal()), Buffer.from(String(token)))
    ? undefined
    : rejection('wrong_verify_token', 'the verify token is not that of the scheme');
}
