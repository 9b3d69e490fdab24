import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two byte strings are the same, in a time that tells nothing of how much of them is: only their digests, which
 * always have 32 bytes, are compared. Every credential of every scheme goes through here or through `equalMacs`.
 */
export function equal(expected: Uint8Array, given: Uint8Array): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

/**
 * The same for MACs, whose length is no secret: of equal length they are compared as they are, without the digests.
 */
export const equalMacs = (expected: Uint8Array, given: Uint8Array): boolean =>
  expected.length === given.length && timingSafeEqual(expected, given);

const digest = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
