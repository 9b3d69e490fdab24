import { type RedactDelivery, redacted } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { type Key, type Scheme, unverified, type Verifier } from '../webhook/scheme.ts';
import { ConfigError } from '../errors.ts';
import { signatureHeaders, type Signer } from '../sender/sign-request.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import { atPublicUrl } from '../webhook/scheme-registry.ts';

/** Every delivery is searched for each of them. */
const mostFormerKeys = 20;

/**
 * The keys that verify now. They are replaced all at once, so that no delivery is checked with some of each. The `former` ones do
 * not verify any more, but are still taken out of what is stored. `replaced` counts how often they were replaced.
 */
export class CurrentKeys implements Verifier {
  readonly scheme: Scheme;
  keys: readonly Key[];
  former: readonly Key[] = [];
  replaced = 0;

  constructor({ scheme, keys }: Verifier) {
    this.scheme = scheme;
    this.keys = keys;
  }

  replace(keys: readonly Key[]): void {
    const removed = this.keys.filter((key) => !keys.includes(key));
    this.former = [...removed, ...this.former].slice(0, mostFormerKeys);
    this.keys = keys;
    this.replaced += 1;
  }
}

/** In characters: a shorter text is no secret, and occurs by chance. */
const shortestSecret = 4;

/**
 * Replaces every header that holds a credential, and the secrets themselves in all other places. The secrets, and the path that was
 * redacted last, since senders repeat it, are kept until the verifier's keys are replaced.
 */
export function deliveryRedactor(verifier: Verifier): RedactDelivery {
  const { scheme } = verifier;
  const withoutCredentials = headerRedactor(scheme);
  let keysOfSecrets: readonly Key[] | undefined;
  let secrets: readonly Secret[] = [];
  let lastPath = { received: '', shown: '' };
  const renewSecrets = (): void => {
    if (keysOfSecrets === verifier.keys) return;
    keysOfSecrets = verifier.keys;
    secrets = [...verifier.keys, ...(verifier.former ?? []), { secret: scheme.verifyToken }]
      .flatMap(({ secret }) => secret ?? [])
      .filter((secret) => secret.reveal().length >= shortestSecret);
    lastPath = { received: '', shown: '' };
  };
  return {
    path({ path }) {
      renewSecrets();
      if (lastPath.received === path) return lastPath.shown;
      // A verify token that is not ours may be the one of another app.
      const shownPath = withoutSecrets(path, secrets, redacted).replace(
        /([?&]hub\.verify_token=)[^&]*/g,
        `$1${redacted}`,
      );
      lastPath = { received: path, shown: shownPath };
      return shownPath;
    },
    headers(delivery) {
      renewSecrets();
      return withoutCredentials(delivery.rawHeaders).map((header) => {
        const [name, value] = header;
        // A sender may write this text itself. `wasVerified` must not take it for a credential that was checked.
        const isUnverified = value === redacted && scheme === unverified;
        const shownValue = isUnverified ? `${redacted} unverified` : withoutSecrets(value, secrets, redacted);
        return shownValue === value ? header : [name, shownValue];
      });
    },
  };
}

/** Names of headers that hold a credential in some scheme: one that this receiver ignores must not be kept either. */
const credentialName =
  /cookie|auth(?:$|ori[sz]ation|entication|-?(?:code|data|hash|key|pass|sig|value))|token|secret|signature|hmac|password|jwt|oidc|assertion|bearer|credential|api-?key|^(?:x-)?key$|(?:^|-)(?:access|account|admin|app|application|client|consumer|functions|hook|license|master|partner|private|security|service|shared|subscription|webhook)-?key$/i;

/** Senders repeat the names of headers, but choose them: the memory for them needs these limits. */
const [mostRememberedNames, longestRememberedName] = [500, 99];

/** Makes the headers with their order, case and repetitions; the values of those that hold a credential are replaced. */
export const headerRedactor = ({ credentialHeaders, plainHeaders }: HeaderNames) => {
  const rememberedNames = new Map<string, boolean>();
  const holdsCredential = (name: string): boolean => {
    const remembered = rememberedNames.get(name);
    if (remembered !== undefined) return remembered;
    const lowerName = name.toLowerCase();
    const isPlain = plainHeaders?.includes(lowerName) === true;
    const isSecret = credentialHeaders.includes(lowerName) || (!isPlain && credentialName.test(name));
    if (rememberedNames.size < mostRememberedNames && name.length <= longestRememberedName)
      rememberedNames.set(name, isSecret);
    return isSecret;
  };
  return (rawHeaders: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
    rawHeaders.map((header) => (holdsCredential(header[0]) ? [header[0], redacted] : header));
};

type HeaderNames = Pick<Scheme, 'credentialHeaders' | 'plainHeaders'>;

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
