import { createHash } from 'node:crypto';

/**
 * The key under which a nonce is stored: of fixed length whatever was sent, and separate for each scheme. It does not depend
 * on the secret, since a legitimate retry after a rotation carries the same nonce, signed with the new secret.
 */
export const nonceKey = (scheme: string, nonce: string): string =>
  createHash('sha256').update(`${scheme}\n${nonce}`).digest('base64url');
