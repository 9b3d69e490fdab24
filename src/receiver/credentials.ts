import type { RedactDelivery } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { type Key, type Scheme, unverified, type Verifier } from '../webhook/scheme.ts';
import { redacted } from '../inbox/store-options.ts';

/** Up to so many replaced secrets are still taken out of what is stored: each costs every delivery a search. */
const mostFormer = 20;

/** The keys that are in force, which are replaced all at once: each delivery is checked with the former or the new ones. */
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
    this.former = [...removed, ...this.former].slice(0, mostFormer);
    this.keys = keys;
    this.replaced += 1;
  }
}

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves in all other places. */
export function deliveryRedactor(verifier: Verifier): RedactDelivery {
  const { scheme } = verifier;
  const withoutCredentials = headerRedactor(scheme);
  let keys: readonly Key[] | undefined;
  let secrets: readonly Secret[] = [];
  let lastPath = { received: '', shown: '' };
  const readKeys = (): void => {
    if (keys !== verifier.keys) {
      lastPath = { received: '', shown: '' };
      keys = verifier.keys;
      secrets = [...keys, ...(verifier.former ?? []), { secret: scheme.verifyToken }]
        .flatMap(({ secret }) => secret ?? [])
        .filter((secret) => secret.reveal().length >= shortestSecret);
    }
  };
  return {
    path({ path }) {
      readKeys();
      if (lastPath.received === path) return lastPath.shown;
      const withoutOurs = withoutSecrets(path, secrets, redacted);
      // A wrong one may be that of another app.
      const shownPath = withoutOurs.replace(/([?&]hub\.verify_token=)[^&]*/g, `$1${redacted}`);
      lastPath = { received: path, shown: shownPath };
      return shownPath;
    },
    headers(delivery) {
      readKeys();
      return withoutCredentials(delivery.rawHeaders).map((header) => {
        const [name, value] = header;
        // A later run that verifies must not take it for a credential that was checked.
        const isUnverified = value === redacted && scheme === unverified;
        const shownValue = isUnverified ? `${redacted} unverified` : withoutSecrets(value, secrets, redacted);
        return shownValue === value ? header : [name, shownValue];
      });
    },
  };
}

/** Headers that hold a credential in some scheme: one that this receiver ignores must not be kept either. */
const credential =
  /cookie|auth(?:$|ori[sz]ation|entication|-?(?:code|data|hash|key|pass|sig|value))|token|secret|signature|hmac|password|jwt|oidc|assertion|bearer|credential|api-?key|^(?:x-)?key$|(?:^|-)(?:access|account|admin|app|application|client|consumer|functions|hook|license|master|partner|private|security|service|shared|subscription|webhook)-?key$/i;

/** Senders name the same headers again and again; a bound, since they choose the names. */
const mostJudged = 500;

/** Makes the headers with their order, case and repetitions; the values of those that hold a credential are replaced. */
export const headerRedactor = ({ credentialHeaders, plainHeaders }: HeaderNames) => {
  const judged = new Map<string, boolean>();
  const isCredential = (name: string): boolean => {
    const lower = name.toLowerCase();
    const isPlain = plainHeaders?.includes(lower) === true;
    const isSecret = credentialHeaders.includes(lower) || (!isPlain && credential.test(name));
    if (judged.size < mostJudged && name.length < 100) judged.set(name, isSecret);
    return isSecret;
  };
  return (rawHeaders: Delivery['rawHeaders']): Delivery['rawHeaders'] =>
    rawHeaders.map((header) => {
      const [name] = header;
      return (judged.get(name) ?? isCredential(name)) ? [name, redacted] : header;
    });
};

type HeaderNames = Pick<Scheme, 'credentialHeaders' | 'plainHeaders'>;
