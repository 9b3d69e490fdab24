import { equalInConstantTime } from '../../webhook/crypto/constant-time-equal.ts';

export type KeyCheck = 'valid' | 'missing' | 'wrong';

/** `Authorization: Bearer <API_KEY>` (specification, section 5), compared in constant time. */
export function checkKey(authorization: string | undefined, keys: readonly string[]): KeyCheck {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) return authorization === undefined ? 'missing' : 'wrong';
  const bytes = Buffer.from(given);
  let known = false;
  for (const key of keys) known = equalInConstantTime(Buffer.from(key), bytes) || known;
  return known ? 'valid' : 'wrong';
}
