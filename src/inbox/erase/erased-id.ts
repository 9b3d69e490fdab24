import { createHmac } from 'node:crypto';

/**
 * What stays of the id of an erased lead: a keyed digest, so that nobody learns the id by trying likely ones without the
 * inbox. `key`: of the inbox. No name of a target begins as the text does, so that the key may serve for both.
 */
export const erasedIdDigest = (key: Uint8Array, leadId: string): Buffer =>
  // As JSON, in which half a surrogate pair has a form of its own.
  createHmac('sha256', key)
    .update(`erased ${JSON.stringify(leadId)}`)
    .digest();
