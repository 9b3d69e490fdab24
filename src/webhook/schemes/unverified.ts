import { createSecretKey } from 'node:crypto';
import type { Scheme } from '../scheme.ts';

/** `--no-verify`: takes in whatever comes. No name leads here, so that no misspelt scheme can end in it. */
export const unverified: Scheme = {
  name: 'none',
  credentialHeaders: [],
  toleranceMs: undefined,
  key: (secret) => ({ secret, material: createSecretKey(Buffer.from(secret.reveal())) }),
  authenticate: () => ({ ok: true, key: -1 }),
  sign: () => [],
};
