import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two byte strings are the same, in a time that tells nothing of how much of them is: only their digests, which
 * always have 32 bytes, are compared. Every credential of every scheme goes through here.
 */
export function equal(expected: Uint8Array, given: Uint8Array): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

const digest = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
