import { createHash } from 'node:crypto';

/**
 * What a nonce is remembered under: of fixed length, whatever was sent, and apart for each scheme. Not for each key, since
 * an honest retry after a rotation carries the same nonce under the new one.
 */
export const nonceKey = (scheme: string, nonce: string): string =>
  createHash('sha256').update(`${scheme}\n${nonce}`, 'utf8').digest('base64url');
