import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './errors.ts';
import { chunksOf, maxChunkBytes, writeAt } from './read.ts';

/**
 * Makes a file consist of its first `base` bytes and of `source`, durably; it can be repeated after a crash.
 * Returns false and writes nothing when the bytes after `base` are not a beginning of `source`, because then
 * another program wrote them.
 */
export function appendDurably(path: string, base: number, source: FileHandle): Promise<boolean> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      if (!(await endsWithBeginningOf(source, file, base))) return false;
      let position = base;
      for await (const chunk of chunksOf(source, 0)) {
        await writeAt(file, chunk, position);
        position += chunk.length;
      }
      await file.sync();
      return true;
    } finally {
      await file.close();
    }
  });
}

export async function digestWith(
  base: FileDigest | undefined,
  source: FileHandle,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = base?.hash.copy() ?? createHash('sha256');
  let bytes = base?.bytes ?? 0;
  for await (const chunk of chunksOf(source, 0)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A crash of the whole machine may leave zeros in place of the last written bytes. */
async function endsWithBeginningOf(source: FileHandle, file: FileHandle, from: number): Promise<boolean> {
  let offset = 0;
  const expected = Buffer.allocUnsafe(maxChunkBytes);
  for await (const chunk of chunksOf(file, from)) {
    let length = 0;
    while (length < chunk.length) {
      const { bytesRead } = await source.read(expected, length, chunk.length - length, offset + length);
      if (bytesRead === 0) return false;
      length += bytesRead;
    }
    const isOurs =
      chunk.equals(expected.subarray(0, length)) ||
      chunk.every((byte, i) => byte === expected[i] || byte === 0);
    if (!isOurs) return false;
    offset += length;
  }
  return true;
}

/** The digest of the first bytes of a file; the hash can continue with appended bytes. */
export interface FileDigest {
  readonly bytes: number;
  readonly hash: Hash;
  /** Differs after a write to the file or its replacement. */
  readonly stamp: string;
}

export function digestFile(path: string, bytes = Number.MAX_SAFE_INTEGER): Promise<FileDigest> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      const stamp = await stampOf(file);
      const hash = createHash('sha256');
      let length = 0;
      for await (const chunk of chunksOf(file, 0, bytes)) {
        hash.update(chunk);
        length += chunk.length;
      }
      return { bytes: length, hash, stamp };
    } finally {
      await file.close();
    }
  });
}

export function isUnchanged(path: string, { stamp }: FileDigest): Promise<boolean> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      return (await stampOf(file)) === stamp;
    } finally {
      await file.close();
    }
  });
}

export const hexOf = ({ hash }: Pick<FileDigest, 'hash'>): string => hash.copy().digest('hex');

async function stampOf(file: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs } = await file.stat({ bigint: true });
  return [dev, ino, size, mtimeNs].join(' ');
}
