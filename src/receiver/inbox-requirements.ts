import type { RedactDelivery } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import { redactHeaders } from '../webhook/headers.ts';
import { type Key, unverified, type Verifier } from '../webhook/scheme.ts';
import { redacted } from './stored-deliveries.ts';
import type { Target } from './targets/target.ts';

/** A nonce of a scheme that signs no time never expires by itself: a month is what the verifier remembers. */
const timelessNonceMs = 30 * 86_400_000;

/** Added to each target's longest time for what surrounds the delivery, such as noting its end, in milliseconds. */
const marginMs = 1000;

/** What an inbox has to know of the receiver in front of it. Durations in milliseconds. */
export function inboxRequirements(verifier: Verifier, targets: readonly Target[]) {
  const { toleranceMs } = verifier.scheme;
  return {
    targets: targets.map((target) => target.name),
    leaseMs: Math.max(0, ...targets.map(({ longestMs }) => longestMs + marginMs)),
    nonceLifetimeMs: toleranceMs === undefined ? timelessNonceMs : 2 * toleranceMs + 1000,
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
  const redact = (text: string): string => {
    if (known !== verifier.keys) {
      known = verifier.keys;
      secrets = [...known, ...(verifier.former ?? []), { secret: scheme.verifyToken }]
        .flatMap(({ secret }) => secret ?? [])
        .filter((secret) => secret.reveal().length >= shortestSecret);
    }
    return withoutSecrets(text, secrets, redacted);
  };
  return {
    // A wrong one may be that of another app.
    path: (delivery) => redact(delivery.path).replace(/([?&]hub\.verify_token=)[^&]*/g, `$1${redacted}`),
    headers: (delivery) =>
      redactHeaders(delivery.rawHeaders, scheme).map(([name, value]) => [
        name,
        // A later run that verifies must not take it for a credential that was checked.
        value === redacted && scheme === unverified ? `${redacted} unverified` : redact(value),
      ]),
  };
}
