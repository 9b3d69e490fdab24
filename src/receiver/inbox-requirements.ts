import type { RedactDelivery } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import { redactHeaders } from '../webhook/headers.ts';
import { type Key, unverified, type Verifier } from '../webhook/scheme.ts';
import { leaseMs } from './lease-renewal.ts';
import { redacted } from './stored-deliveries.ts';
import type { Target } from './targets/target.ts';

/** A nonce of a scheme that signs no time never expires by itself: a month is what the verifier remembers. */
const timelessNonceMs = 30 * 86_400_000;

/** Whoever sets a tolerance without an end means no more than a hundred years, of which stores count the milliseconds. */
const longestNonceMs = 100 * 365 * 86_400_000;

/** What an inbox has to know of the receiver in front of it. Durations in milliseconds. */
export function inboxRequirements(verifier: Verifier, targets: readonly Target[]) {
  const { toleranceMs } = verifier.scheme;
  return {
    targets: targets.map((target) => target.name),
    leaseMs,
    nonceLifetimeMs:
      toleranceMs === undefined
        ? timelessNonceMs
        : Math.min(Math.ceil(2 * toleranceMs) + 1000, longestNonceMs),
    redact: deliveryRedactor(verifier),
  };
}

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves wherever else they occur. */
export function deliveryRedactor(verifier: Verifier): RedactDelivery {
  const { scheme } = verifier;
  let known: readonly Key[] | undefined;
  let secrets: readonly Secret[] = [];
  // As a rule a sender has one path.
  let lastPath = { received: '', shown: '' };
  const readKeys = (): void => {
    if (known !== verifier.keys) {
      lastPath = { received: '', shown: '' };
      known = verifier.keys;
      secrets = [...known, ...(verifier.former ?? []), { secret: scheme.verifyToken }]
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
      const shown = withoutOurs.replace(/([?&]hub\.verify_token=)[^&]*/g, `$1${redacted}`);
      lastPath = { received: path, shown };
      return shown;
    },
    headers(delivery) {
      readKeys();
      return redactHeaders(delivery.rawHeaders, scheme).map((header) => {
        const [name, value] = header;
        // A later run that verifies must not take it for a credential that was checked.
        const isUnverified = value === redacted && scheme === unverified;
        const shown = isUnverified ? `${redacted} unverified` : withoutSecrets(value, secrets, redacted);
        return shown === value ? header : [name, shown];
      });
    },
  };
}
