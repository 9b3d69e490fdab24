import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two byte strings are the same, in a time that does not depend on how many bytes agree: only their digests, which
 * always have 32 bytes, are compared. Every credential of every scheme is compared by this or by `equalMacs`.
 */
export function equalInConstantTime(expected: Uint8Array, received: Uint8Array): boolean {
  return timingSafeEqual(digest(expected), digest(received));
}

/**
 * The same for MACs, whose length is public: those of equal length are compared directly, without digests.
 */
export const equalMacs = (expected: Uint8Array, received: Uint8Array): boolean =>
  expected.length === received.length && timingSafeEqual(expected, received);

const digest = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
