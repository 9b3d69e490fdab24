import type { RedactDelivery } from '../inbox/store-options.ts';
import { withoutSecrets } from '../secret.ts';
import { redactHeaders } from '../webhook/headers.ts';
import type { Verifier } from '../webhook/scheme.ts';
import type { Target } from './targets/target.ts';

/** A nonce of a scheme that signs no time never expires by itself: a month is what the verifier remembers. */
const timelessNonceMs = 30 * 86_400_000;

/** Added to each target's longest time for what surrounds the delivery, such as the settlement, in milliseconds. */
const marginMs = 1000;

/** What an inbox has to know of the receiver in front of it. Durations in milliseconds. */
export function inboxRequirements(verifier: Verifier, targets: readonly Target[]) {
  const { toleranceMs } = verifier.scheme;
  return {
    targets: targets.map((target) => target.name),
    leaseMs: targets.reduce((sum, target) => sum + target.longestMs + marginMs, 0),
    nonceLifetimeMs: toleranceMs === undefined ? timelessNonceMs : 2 * toleranceMs + 1000,
    redact: deliveryRedactor(verifier),
  };
}

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves wherever else they occur. */
export function deliveryRedactor({ scheme, keys }: Verifier): RedactDelivery {
  const secrets = keys.map((key) => key.secret).filter((secret) => secret.reveal().length >= shortestSecret);
  const redact = (text: string): string => withoutSecrets(text, secrets, '[redacted]');
  return {
    path: (delivery) => redact(delivery.path),
    headers: (delivery) =>
      redactHeaders(delivery.rawHeaders, scheme).map(([name, value]) => [name, redact(value)]),
  };
}
