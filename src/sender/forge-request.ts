import type { Scheme } from '../webhook/scheme.ts';
import {
  jsonRequest,
  type SignedContent,
  type SignedRequest,
  signatureHeaders,
  type Signer,
  signRequest,
} from './sign-request.ts';

export const forgeryKinds = ['badSignature', 'staleTimestamp', 'reusedNonce', 'alteredPayload'] as const;

export type ForgeryKind = (typeof forgeryKinds)[number];

/** A request that a receiver which verifies must reject. */
export type Forgery =
  | { readonly kind: Exclude<ForgeryKind, 'reusedNonce'> }
  /** `usedId` is the id of a delivery of another lead that the same target has acknowledged. */
  | { readonly kind: 'reusedNonce'; readonly usedId: string };

const weekMs = 7 * 86_400_000;

/** The request for a delivery, forged in one way. `now` in milliseconds since the epoch. */
export function forgeRequest(
  signer: Signer,
  content: SignedContent,
  now: number,
  forgery: Forgery,
): SignedRequest {
  switch (forgery.kind) {
    case 'badSignature': {
      const genuine = signatureHeaders(signer, content, now);
      const ofAnotherBody = signatureHeaders(signer, { ...content, body: Buffer.from('{}') }, now);
      return jsonRequest(signer, wrongCredential(genuine, ofAnotherBody, signer.scheme), content.body);
    }
    case 'staleTimestamp':
      return signRequest(signer, content, now - weekMs);
    case 'reusedNonce':
      return signRequest(signer, { ...content, id: forgery.usedId }, now);
    case 'alteredPayload':
      return jsonRequest(signer, signatureHeaders(signer, content, now), withExtraField(content.body));
  }
}

/** Whether the scheme sends or signs what this kind forges: a receiver could not notice the forgery otherwise. */
export function canForge(signer: Signer, kind: ForgeryKind): boolean {
  const content: SignedContent = { target: 'https://localhost/', id: 'a', body: Buffer.from('{}') };
  const headersOf = ({ headers }: SignedRequest): string => JSON.stringify(headers);
  const genuine = headersOf(signRequest(signer, content, 0));
  if (kind === 'alteredPayload') {
    const otherContent = { ...content, body: Buffer.from('{"a":1}') };
    return signer.key !== undefined && headersOf(signRequest(signer, otherContent, 0)) !== genuine;
  }
  const forgery = kind === 'reusedNonce' ? { kind, usedId: 'b' } : { kind };
  const forged = headersOf(forgeRequest(signer, content, 0, forgery));
  if (kind === 'badSignature') return forged !== genuine;
  // Some signatures are new each time: only what stands beside them shows whether a time or nonce is sent.
  const withoutSignatures = (headers: string): string => headers.replace(/[\w+/=-]{40,}/g, '');
  return withoutSignatures(forged) !== withoutSignatures(genuine);
}

/** Well-formed and wrong: the signature of another body, or, where the body is not signed, another token. */
function wrongCredential(
  genuine: SignedRequest['headers'],
  ofAnotherBody: SignedRequest['headers'],
  scheme: Scheme,
): SignedRequest['headers'] {
  if (JSON.stringify(genuine) !== JSON.stringify(ofAnotherBody)) return ofAnotherBody;
  return genuine.map(([name, value]) =>
    scheme.credentialHeaders.includes(name.toLowerCase())
      ? [name, withOtherLastCharacter(value)]
      : [name, value],
  );
}

const withOtherLastCharacter = (text: string): string => text.slice(0, -1) + (text.endsWith('x') ? 'y' : 'x');

/** The field is easy to find in an inbox that stored the altered lead by mistake. */
function withExtraField(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('utf8');
  const separator = /^\s*\{\s*\}/.test(text) ? '' : ',';
  return Buffer.from(text.replace(/^\s*\{/, `$&"forged":true${separator}`));
}
