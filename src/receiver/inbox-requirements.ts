import type { RedactDelivery } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { type Key, type Scheme, unverified, type Verifier } from '../webhook/scheme.ts';
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

/** Headers that hold a credential in some scheme: one that this receiver ignores must not be kept either. */
const credential = /cookie|authorization|token|secret|signature|hmac|api-?key|password/i;

/** The headers with their order, case and repetitions; the values of those that hold a credential are replaced. */
export function redactHeaders(
  rawHeaders: Delivery['rawHeaders'],
  scheme: Pick<Scheme, 'credentialHeaders'>,
): Delivery['rawHeaders'] {
  const own = scheme.credentialHeaders;
  const known = judged.get(own) ?? new Map<string, boolean>();
  judged.set(own, known);
  return rawHeaders.map((header) => {
    const [name] = header;
    let isCredential = known.get(name);
    if (isCredential === undefined) {
      isCredential = own.includes(name.toLowerCase()) || credential.test(name);
      if (known.size < mostJudged && name.length < 100) known.set(name, isCredential);
    }
    return isCredential ? [name, '[redacted]'] : header;
  });
}

/** By the headers of a scheme: senders name the same ones again and again; a bound, since they choose the names. */
const judged = new WeakMap<readonly string[], Map<string, boolean>>();
const mostJudged = 500;
