import { equalInConstantTime } from '../../webhook/crypto/constant-time-equal.ts';

export type KeyCheck = 'valid' | 'missing' | 'wrong';

/** `Authorization: Bearer <API_KEY>` (specification, section 5), compared in constant time. */
export function checkKey(authorization: string | undefined, validKeys: readonly string[]): KeyCheck {
  const sent = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (sent === undefined) return authorization === undefined ? 'missing' : 'wrong';
  const sentBytes = Buffer.from(sent);
  let valid = false;
  // All keys are compared, so that the time does not tell which one it was.
  for (const key of validKeys) valid = equalInConstantTime(Buffer.from(key), sentBytes) || valid;
  return valid ? 'valid' : 'wrong';
}
