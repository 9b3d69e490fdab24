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
