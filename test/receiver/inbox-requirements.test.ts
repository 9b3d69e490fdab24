import { expect, it } from 'vitest';
import { inboxRequirements } from '../../src/receiver/receiver.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';

it.each([
  [300_000, 601_000],
  [1000 / 3, 1667],
  [Number.MAX_SAFE_INTEGER, 100 * 365 * 86_400_000],
])(
  'of a tolerance of %d ms, nonces are kept for whole milliseconds that can be counted',
  (toleranceMs, expected) => {
    const verifier = { scheme: { toleranceMs }, keys: [] } as unknown as Verifier;
    expect(inboxRequirements(verifier, [], 0).nonceLifetimeMs).toBe(expected);
  },
);
