import type { Verifier } from '../webhook/scheme.ts';
import { deliveryRedactor } from './credentials.ts';
import { claimMsFor } from './forward-worker.ts';
import type { Target } from './targets/target.ts';

/** A nonce of a scheme that signs no time never expires by itself: a month is what the verifier remembers. */
const timelessNonceMs = 30 * 86_400_000;

/** A tolerance without an end is cut to a hundred years, of which stores can count the milliseconds. */
const longestNonceMs = 100 * 365 * 86_400_000;

/** The options of an inbox that depend on its receiver. `attemptMs`: how long a target has for a lead at most. */
export function inboxRequirements(
  verifier: Verifier,
  targets: readonly Pick<Target, 'name'>[],
  attemptMs: number,
) {
  const { toleranceMs } = verifier.scheme;
  return {
    targets: targets.map((target) => target.name),
    claimMs: claimMsFor(attemptMs),
    nonceLifetimeMs:
      toleranceMs === undefined
        ? timelessNonceMs
        : Math.min(Math.ceil(2 * toleranceMs) + 1000, longestNonceMs),
    redact: deliveryRedactor(verifier),
  };
}
