import { ConfigError } from '../errors.ts';
import type { StoredDelivery } from '../inbox/inbox.ts';
import { headerValues } from '../webhook/delivery.ts';
import type { Scheme, Verifier } from '../webhook/scheme.ts';
import { atPublicUrl } from '../webhook/scheme-registry.ts';
import { redacted } from './stored-deliveries.ts';

/** A stored delivery as it can be handed on now. */
interface RestoredDelivery {
  readonly stored: StoredDelivery;
  /** It was authentic by this scheme when it came. */
  readonly isVerified: boolean;
  /** An authentic one lacks its credential: this scheme, or its key, only verifies. */
  readonly isUnsigned: boolean;
}

/**
 * Puts the credential back, which is not stored: signed anew, or the current token. Its id stays, since an app may know
 * deliveries by it. `now` in milliseconds since the epoch.
 */
export function restoreCredential(
  stored: StoredDelivery,
  { scheme, keys: [key] }: Verifier,
  now: number,
): RestoredDelivery {
  const isVerified = stored.headers.some(
    ([name, value]) => value === redacted && scheme.credentialHeaders.includes(name.toLowerCase()),
  );
  if (!isVerified) return { stored, isVerified, isUnsigned: false };
  const [host = 'localhost'] = headerValues({ rawHeaders: stored.headers }, 'host');
  const { path } = stored;
  const url =
    scheme.publicUrl === undefined ? `https://${host}${path}` : atPublicUrl({ path }, scheme.publicUrl).url;
  const sign = (id: string): ReturnType<Scheme['sign']> =>
    key === undefined || key.material.type === 'public'
      ? []
      : scheme.sign({ method: stored.method, url, body: stored.body, id }, key, now);
  try {
    const id = `msg_${stored.seq}`;
    const idHeader = sign(id).find(([, value]) => value === id)?.[0];
    const ids = idHeader === undefined ? [] : headerValues({ rawHeaders: stored.headers }, idHeader);
    // The id is redacted where another scheme was in force, or a secret occurs in it.
    const known = ids.find((value) => !value.includes(redacted)) ?? id;
    const signed = sign(known);
    const isReplaced = (name: string): boolean =>
      signed.some(([other]) => other.toLowerCase() === name.toLowerCase());
    const headers = [...stored.headers.filter(([name]) => !isReplaced(name)), ...signed];
    return { stored: { ...stored, headers }, isVerified, isUnsigned: signed.length === 0 };
  } catch (error) {
    // A scheme may sign what is not known any more.
    if (error instanceof ConfigError) return { stored, isVerified, isUnsigned: true };
    throw error;
  }
}
