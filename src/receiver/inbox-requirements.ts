import type { Verifier } from '../webhook/scheme.ts';
import { deliveryRedactor } from './credentials.ts';
import { leaseMs } from './lease-renewal.ts';
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
