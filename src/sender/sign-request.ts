import { ConfigError } from '../errors.ts';
import type { Key, Scheme } from '../webhook/scheme.ts';

/** How deliveries are signed; without a key they are sent unsigned. */
export interface Signer {
  readonly scheme: Scheme;
  readonly key: Key | undefined;
  /** They are sent with every delivery; a `Content-Type` replaces ours. */
  readonly headers?: SignedRequest['headers'] | undefined;
}

export interface SignedRequest {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The parts of a delivery that a signature covers, or that the scheme sends with it. */
export type SignedContent = Pick<OutgoingDelivery, 'id' | 'target' | 'body'>;

/** The request for a delivery as the service sends it. `now` in milliseconds since the epoch. */
export function signRequest(signer: Signer, content: SignedContent, now: number): SignedRequest {
  return jsonRequest(signer, signatureHeaders(signer, content, now), content.body);
}

export function signatureHeaders(
  { scheme, key }: Signer,
  { id, target, body }: SignedContent,
  now: number,
): SignedRequest['headers'] {
  return key === undefined ? [] : scheme.sign({ method: 'POST', url: target, id, body }, key, now);
}

export const jsonRequest = (
  { headers: addedHeaders = [] }: Pick<Signer, 'headers'>,
  credential: SignedRequest['headers'],
  body: Uint8Array,
): SignedRequest => ({
  headers: addedHeaders.some(([name]) => /^content-type$/i.test(name))
    ? [...credential, ...addedHeaders]
    : [['Content-Type', 'application/json'], ...credential, ...addedHeaders],
  body,
});

export interface OutgoingDelivery {
  /** The same for every attempt: the id that schemes send (`webhook-id`), and their nonce where they have one. */
  readonly id: string;
  readonly leadId: string;
  readonly target: string;
  readonly body: Uint8Array;
}

/** Throws a `ConfigError` before the first delivery where every one would fail: a public key, a signed header that is not sent. */
export function rejectUnableToSign(scheme: Scheme, key: Key): void {
  if (key.material.type === 'public') {
    throw new ConfigError(`a public key cannot sign: the scheme '${scheme.name}' needs the private one here`);
  }
  scheme.sign({ method: 'POST', url: 'https://localhost/', id: '1', body: Buffer.from('{}') }, key, 0);
}

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
    case 'badSignature':
      return jsonRequest(signer, wrongCredential(signer, content, now), content.body);
    case 'staleTimestamp':
      return signRequest(signer, content, now - weekMs);
    case 'reusedNonce':
      return signRequest(signer, { ...content, id: forgery.usedId }, now);
    case 'alteredPayload':
      return jsonRequest(signer, signatureHeaders(signer, content, now), withExtraField(content.body));
  }
}

/** Whether the scheme sends or signs what this kind forges: a receiver could not notice the forgery otherwise. */
export function canForge({ scheme, key }: Signer, kind: ForgeryKind): boolean {
  if (key === undefined) return false;
  if (kind === 'staleTimestamp') return scheme.toleranceMs !== undefined;
  if (kind === 'alteredPayload') return scheme.ignoresBody !== true;
  const content = { target: 'https://localhost/', id: 'msg_of_one', body: Buffer.from('{}') };
  const sendsId = signatureHeaders({ scheme, key }, content, 0).some(([, value]) => value === content.id);
  return kind === 'badSignature' || sendsId;
}

/** Well-formed and wrong: the signature of another body, or, where the body is not signed, another token. */
function wrongCredential(signer: Signer, content: SignedContent, now: number): SignedRequest['headers'] {
  const { ignoresBody, credentialHeaders } = signer.scheme;
  if (ignoresBody !== true)
    return signatureHeaders(signer, { ...content, body: withExtraField(content.body) }, now);
  return signatureHeaders(signer, content, now).map(([name, value]) =>
    credentialHeaders.includes(name.toLowerCase()) ? [name, withOtherLastCharacter(value)] : [name, value],
  );
}

const withOtherLastCharacter = (text: string): string => text.slice(0, -1) + (text.endsWith('x') ? 'y' : 'x');

/** The field is easy to find in an inbox that stored the altered lead by mistake. */
function withExtraField(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('utf8');
  const separator = /^\s*\{\s*\}/.test(text) ? '' : ',';
  return Buffer.from(text.replace(/^\s*\{/, `$&"forged":true${separator}`));
}
