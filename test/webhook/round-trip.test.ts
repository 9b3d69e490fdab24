import fc from 'fast-check';
import { test, expect } from 'vitest';
import { verify } from './verify.ts';
import { delivered, outgoing } from './delivery.ts';
import { cases, keyOf } from './schemes/every.ts';

const seconds = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 });
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
/** Part of the tolerance. */
const skew = fc.double({ min: -0.99, max: 0.99, noNaN: true });

test.each(cases)('$name: what is signed verifies, with its time and nonce', ({ scheme, secret, other }) => {
  const [key, wrong] = [keyOf(scheme, secret), keyOf(scheme, other)];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), seconds, id, skew, (body, at, nonce, off) => {
      const message = { ...outgoing(body), id: nonce };
      const arrived = delivered(scheme.sign(message, key, at * 1000), message);
      const receivedAt = at * 1000 + Math.trunc(off * (scheme.toleranceMs ?? 300_000));
      const verdict = verify(arrived, scheme, [wrong, key], receivedAt);
      expect(verdict).toMatchObject({ ok: true, key: 1 });
      if (!verdict.ok) return;
      if (scheme.toleranceMs !== undefined) expect(verdict.timestamp).toBe(at * 1000);
      if (verdict.nonce !== undefined) expect(verdict.nonce).toBe(nonce);
    }),
    { numRuns: 60 },
  );
});
