import { randomBytes } from 'node:crypto';
import type { CheckRequest, CheckSession, TestLead } from './session.ts';

// The headers that prove the sender, by the scheme of the session, and requests whose proof is wrong or lacks a part.

/** Whether the credential depends on the body: a token does not. */
export const hasSignature = ({ signer: { scheme } }: CheckSession): boolean => scheme.ignoresBody !== true;

/** Lower-case names of all headers that the scheme sends: the credential, its time and its id. */
function proofHeaders(session: CheckSession): string[] {
  const sample = session.delivery({ lead: { id: 'leads-check', value: {}, madeAt: session.clock.now() } });
  return sample.genuine.map(([name]) => name.toLowerCase());
}

/** Lower-case name of the header that holds the credential itself: the last of several. */
const credentialHeader = (session: CheckSession): string =>
  proofHeaders(session).findLast((name) => session.signer.scheme.credentialHeaders.includes(name)) ?? '';

export function credentialsIn(
  session: CheckSession,
  headers: CheckRequest['headers'],
): CheckRequest['headers'] {
  const header = credentialHeader(session);
  return headers.filter(([name]) => name.toLowerCase() === header);
}

export const credentialValue = (session: CheckSession, { headers }: CheckRequest): string =>
  credentialsIn(session, headers).at(-1)?.[1] ?? '';

/** A signature in hex or base64; no other part of a scheme's header but an id looks like it. */
const signature = /[A-Za-z0-9+/_-]{20,}={0,2}/g;

/** The signatures that these headers hold, or the token. */
export const credentialTexts = (session: CheckSession, headers: CheckRequest['headers']): string[] =>
  credentialsIn(session, headers).flatMap(([, value]) =>
    hasSignature(session) ? (value.match(signature) ?? []) : [value],
  );

const withChangedHeaders = (
  request: CheckRequest,
  change: (lowerCaseName: string, value: string) => string,
): CheckRequest => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, change(name.toLowerCase(), value)]),
});

export const withContentType = (request: CheckRequest, type: string): CheckRequest =>
  withChangedHeaders(request, (name, value) => (name === 'content-type' ? type : value));

export function withCredential(
  session: CheckSession,
  request: CheckRequest,
  change: (value: string) => string,
): CheckRequest {
  const header = credentialHeader(session);
  return withChangedHeaders(request, (name, value) => (name === header ? change(value) : value));
}

/** Another token, or the header with another signature in the place of the last one: as long, and of letters and digits. */
export const otherCredential = (value: string): string =>
  value.replace(/[^=,; ]*=*$/, ({ length }) => randomBytes(length).toString('hex').slice(0, length));

/** A delivery of the lead whose credential is as long as the right one, so that nothing but its characters differs. */
export const forgedDelivery = (session: CheckSession, lead: TestLead): CheckRequest =>
  withCredential(session, session.delivery({ lead }), otherCredential);

export function withSignatureOfOtherBody(session: CheckSession, lead: TestLead): CheckRequest {
  const body = JSON.stringify({ ...lead.value, category: otherCredential('changed') });
  return { ...session.delivery({ lead }), headers: session.delivery({ lead, body }).headers };
}

export function withoutProof(session: CheckSession, request: CheckRequest): CheckRequest {
  const proof = proofHeaders(session);
  return { ...request, headers: request.headers.filter(([name]) => !proof.includes(name.toLowerCase())) };
}

/** The request without each header of its proof, with each of them empty, and without each part of a signature's header. */
export function incompleteForms(session: CheckSession, request: CheckRequest): CheckRequest[] {
  const proof = proofHeaders(session);
  return request.headers.flatMap(([name, value], index) => {
    if (!proof.includes(name.toLowerCase())) return [];
    const changed = (phrase: string, changedValue: string): CheckRequest => ({
      ...request,
      phrase,
      headers: request.headers.with(index, [name, changedValue]),
    });
    const parts = hasSignature(session) ? value.split(/(?<=[,;])/) : [];
    const withoutPart = parts.map((_, i) => {
      const remainder = parts.toSpliced(i, 1).join('').trim();
      return changed(`without part ${i + 1} of ${name}`, remainder.replace(/[,;]$/, ''));
    });
    return [
      { ...request, phrase: `without ${name}`, headers: request.headers.toSpliced(index, 1) },
      changed(`with ${name} empty`, ''),
      ...(parts.length > 1 ? withoutPart : []),
    ];
  });
}
