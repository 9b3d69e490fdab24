import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './errors.ts';
import { chunksOf, longestChunk, writeAt } from './read.ts';

/**
 * Makes a file consist of its first `base` bytes and of `source`, durably. May be repeated after a crash at any moment.
 * False, and nothing is written, when something else stands behind the first bytes than the beginning of `source`: it is
 * not ours.
 */
export function appendDurably(path: string, base: number, source: FileHandle): Promise<boolean> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      if (!(await endsWithBeginningOf(source, file, base))) return false;
      let at = base;
      for await (const chunk of chunksOf(source, 0)) {
        await writeAt(file, chunk, at);
        at += chunk.length;
      }
      await file.sync();
      return true;
    } finally {
      await file.close();
    }
  });
}

/** Length and SHA-256 of a file that consists of what `base` says, if anything, and of `source`. */
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

/** A crash of the whole machine may leave zeros in place of bytes that were written last. */
async function endsWithBeginningOf(source: FileHandle, file: FileHandle, from: number): Promise<boolean> {
  let at = 0;
  const expected = Buffer.allocUnsafe(longestChunk);
  for await (const chunk of chunksOf(file, from)) {
    let length = 0;
    while (length < chunk.length) {
      const { bytesRead } = await source.read(expected, length, chunk.length - length, at + length);
      if (bytesRead === 0) return false;
      length += bytesRead;
    }
    const isOurs =
      chunk.equals(expected.subarray(0, length)) ||
      chunk.every((byte, i) => byte === expected[i] || byte === 0);
    if (!isOurs) return false;
    at += length;
  }
  return true;
}

/** The first bytes of a file, taken into a SHA-256 that can go on with what is appended. */
export interface FileDigest {
  readonly bytes: number;
  /** Use a copy: it may be needed again. */
  readonly hash: Hash;
  /** The same as long as nobody has written to the file or replaced it. */
  readonly stamp: string;
}

/** Reads the first `bytes` of a file, all of it by default; fewer where it is shorter. It must be writable. */
export function digestFile(path: string, bytes = Number.MAX_SAFE_INTEGER): Promise<FileDigest> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      const stamp = await stampOf(file);
      const hash = createHash('sha256');
      let at = 0;
      for await (const chunk of chunksOf(file, 0, bytes)) {
        hash.update(chunk);
        at += chunk.length;
      }
      return { bytes: at, hash, stamp };
    } finally {
      await file.close();
    }
  });
}

/** Whether a file is as it was when its digest was taken. */
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
