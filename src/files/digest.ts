import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './output-error.ts';

/** The first bytes of a file, taken into a SHA-256 that can go on with what is appended. */
export interface FileDigest {
  readonly bytes: number;
  /** Use a copy: it may be needed again. */
  readonly hash: Hash;
  /** The same as long as nobody has written to the file or replaced it. */
  readonly stamp: string;
}

const chunkSize = 1024 * 1024;

/** Reads the first `bytes` of a file, all of it by default; fewer where it is shorter. It must be writable. */
export function digestFile(path: string, bytes = Number.MAX_SAFE_INTEGER): Promise<FileDigest> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      const stamp = await stampOf(file);
      const hash = createHash('sha256');
      const buffer = Buffer.allocUnsafe(chunkSize);
      let at = 0;
      while (at < bytes) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(chunkSize, bytes - at), at);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
        at += bytesRead;
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
