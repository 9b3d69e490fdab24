import { erasedIdDigest } from '../../erase/erased-id.ts';
import { hexOf } from '../sql/sql.ts';
import { bytesOfText } from '../sql/text-bytes.ts';

/** An id that is to be erased. */
export interface StoredId {
  readonly bytes: Uint8Array;
  /** The same in hex. */
  readonly key: string;
  /** What stays of it. */
  readonly digest: Uint8Array;
}

export const storedIds = (key: Uint8Array, leadIds: readonly string[]): readonly StoredId[] =>
  [...new Set(leadIds)].map((leadId) => {
    const bytes = bytesOfText(leadId);
    return { bytes, key: hexOf(bytes), digest: erasedIdDigest(key, leadId) };
  });
