import type { FileHandle } from 'node:fs/promises';

const lineFeed = 0x0a;

/**
 * Gives those of the lines, each with its line feed, that were written at `start` and are no lines of their own in a file
 * that another program cut meanwhile, and that has `size` bytes now: the first one where it stands after a part of another
 * line, or those that the cut took. Throws what reading the file throws.
 */
export async function lostLines(
  handle: Pick<FileHandle, 'read'>,
  lines: Uint8Array,
  { start, size }: { readonly start: number; readonly size: number },
): Promise<Uint8Array> {
  // A cut before the lines were written has moved them to the front, and writes of others have moved them to the end.
  const from = Math.max(0, Math.min(start, size - lines.length) - 1);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
  const now = buffer.subarray(0, bytesRead);
  let isJoined = false;
  for (let start = now.indexOf(lines); start >= 0; start = now.indexOf(lines, start + 1)) {
    if (from + start === 0 || now[start - 1] === lineFeed) return new Uint8Array();
    isJoined = true;
  }
  if (isJoined) return lines.subarray(0, lines.indexOf(lineFeed) + 1);
  const remaining = now.subarray(start - from);
  return remaining.equals(lines.subarray(0, remaining.length))
    ? lines.subarray(remaining.lastIndexOf(lineFeed) + 1)
    : lines;
}
