import { createSecretKey } from 'node:crypto';
import type { Scheme } from '../scheme.ts';

/** `--no-verify`: accepts every delivery. The scheme has no name in the registry, so that no misspelt name selects it. */
export const unverified: Scheme = {
  name: 'none',
  credentialHeaders: [],
  toleranceMs: undefined,
  signsUrl: false,
  key: (secret) => ({ secret, material: createSecretKey(Buffer.from(secret.reveal())) }),
  authenticate: () => ({ ok: true, key: -1 }),
  sign: () => [],
};
