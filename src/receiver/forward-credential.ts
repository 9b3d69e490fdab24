import { ConfigError } from '../errors.ts';
import { signatureHeaders, type Signer } from '../sender/sign-request.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import type { Scheme, Verifier } from '../webhook/scheme.ts';
import { atPublicUrl } from '../webhook/scheme-registry.ts';
import { redacted } from '../inbox/store-options.ts';

type Headers = Delivery['rawHeaders'];

/** Whether a stored delivery was authentic by this scheme when it came: only then its credential was replaced by `redacted`. */
export const wasVerified = (headers: Headers, { credentialHeaders }: Scheme): boolean =>
  headers.some(([name, value]) => value === redacted && credentialHeaders.includes(name.toLowerCase()));

/**
 * Replaces the credential of an authentic delivery by one that is made now, from the first key: the one that it came with may be
 * too old, or that of a former secret. `isSigned` is false where the scheme signs nothing or the key is public: then it has none.
 * The id of the delivery stays, since an app may know deliveries by it; without one, it is made from `seq`. `now` in milliseconds
 * since the epoch.
 */
export function withFreshCredential(
  checked: CheckedDelivery,
  { scheme, keys: [first] }: Verifier,
  seq: number,
  now: number,
): { readonly checked: CheckedDelivery; readonly isSigned: boolean } {
  const { delivery } = checked;
  const signer = { scheme, key: first?.material.type === 'public' ? undefined : first };
  const signed = credentialFor(signer, delivery, `msg_${seq}`, now);
  const isReplaced = (name: string): boolean =>
    scheme.credentialHeaders.includes(name.toLowerCase()) ||
    signed.some(([header]) => header.toLowerCase() === name.toLowerCase());
  const rawHeaders = [...delivery.rawHeaders.filter(([name]) => !isReplaced(name)), ...signed];
  return { checked: { ...checked, delivery: { ...delivery, rawHeaders } }, isSigned: signed.length > 0 };
}

function credentialFor(signer: Signer, delivery: Delivery, newId: string, now: number): Headers {
  const { path, rawHeaders, body } = delivery;
  const { publicUrl } = signer.scheme;
  const [host = 'localhost'] = headerValues(delivery, 'host');
  const target = publicUrl === undefined ? `https://${host}${path}` : atPublicUrl({ path }, publicUrl).url;
  const sign = (id: string): Headers => signatureHeaders(signer, { id, target, body }, now);
  try {
    const signed = sign(newId);
    // The scheme does not say which header has the id: it is the one with the value `newId`.
    const headerOfId = signed.find(([, value]) => value === newId)?.[0];
    const sentId = headerOfId === undefined ? undefined : headerValues({ rawHeaders }, headerOfId)[0];
    return sentId === undefined ? signed : sign(sentId);
  } catch (error) {
    // A scheme may sign a header that is not stored: then the forward goes unsigned.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
