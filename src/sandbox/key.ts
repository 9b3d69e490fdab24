import { createHash, timingSafeEqual } from 'node:crypto';

export type KeyCheck = 'valid' | 'missing' | 'wrong';

/** `Authorization: Bearer <API_KEY>` (specification, section 5), compared in constant time. */
export function checkKey(authorization: string | undefined, keys: readonly string[]): KeyCheck {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) return authorization === undefined ? 'missing' : 'wrong';
  const digest = sha256(given);
  let known = false;
  for (const key of keys) known = timingSafeEqual(digest, sha256(key)) || known;
  return known ? 'valid' : 'wrong';
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
