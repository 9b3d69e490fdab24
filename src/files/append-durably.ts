import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from './errors.ts';
import { chunksOf, maxChunkBytes, writeAt } from './read.ts';

/**
 * Makes a file consist of its first `base` bytes and of `source`, durably; it can be repeated after a crash.
 * Returns false and writes nothing when the file is shorter than `base`, or when the bytes after `base` are not a beginning
 * of `source`, because then another program wrote them.
 */
export function appendDurably(path: string, base: number, source: FileHandle): Promise<boolean> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      if ((await file.stat()).size < base || !(await endsWithBeginningOf(source, file, base))) return false;
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

export async function digestFrom(file: FileHandle, start: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(file, start)) hash.update(chunk);
  return hash.digest('hex');
}
