import { isTestId } from '../lead/test-id.ts';
import { sha256 } from '../json/bytes.ts';

/** How a lead came: the service pushed it, it was fetched, or it was made up to try the receiver out. */
export type LeafKind = 'push' | 'backfill' | 'test';

const kinds: readonly LeafKind[] = ['push', 'backfill', 'test'];

/** What a leaf says of its lead to somebody who does not know the salt. */
export interface Leaf {
  readonly kind: LeafKind;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** See `commitment`. */
  readonly commitment: Uint8Array;
}

/** Of random bytes that make a leaf say nothing of its lead once they are deleted. */
export const saltBytes = 32;

const version = 1;
export const leafBytes = 42;
const timeAt = 2;
const commitmentAt = 10;

/** SHA-256 of the salt, the length of the id in four bytes, the id in UTF-8 and the SHA-256 of the lead's own bytes. */
export function commitment(salt: Uint8Array, leadId: string, digest: Uint8Array): Uint8Array {
  const idLength = Buffer.byteLength(leadId);
  const idAt = salt.length + 4;
  const bytes = Buffer.allocUnsafe(idAt + idLength + digest.length);
  bytes.set(salt);
  bytes.writeUInt32BE(idLength, salt.length);
  bytes.write(leadId, idAt);
  bytes.set(digest, idAt + idLength);
  return sha256(bytes);
}

export const kindOf = (leadId: string, source: 'push' | 'backfill'): LeafKind =>
  isTestId(leadId) ? 'test' : source;

/** Version and kind in a byte each, the time in eight, the commitment. */
export function encodeLeaf({ kind, receivedAt, commitment }: Leaf): Uint8Array {
  const bytes = Buffer.allocUnsafe(leafBytes);
  bytes[0] = version;
  bytes[1] = kinds.indexOf(kind);
  bytes.fill(0, timeAt, timeAt + 2);
  bytes.writeUIntBE(receivedAt, timeAt + 2, 6);
  bytes.set(commitment, commitmentAt);
  return bytes;
}

/** Undefined for what is no leaf. */
export function decodeLeaf(data: Uint8Array): Leaf | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const kind = kinds[bytes[1] ?? kinds.length];
  if (bytes.length !== leafBytes || bytes[0] !== version || kind === undefined) return undefined;
  const receivedAt = Number(bytes.readBigUInt64BE(timeAt));
  return { kind, receivedAt, commitment: bytes.subarray(commitmentAt) };
}
