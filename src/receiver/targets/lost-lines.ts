import type { FileHandle } from 'node:fs/promises';

const lineFeed = 0x0a;

/**
 * Which of the lines, each with its line feed, that were written at `start` are no lines of their own in a file that
 * somebody else cut meanwhile, and that has `size` bytes now: the first one where it stands behind a part of another line,
 * or those that the cut took. Throws what reading the file throws.
 */
export async function lostLines(
  handle: Pick<FileHandle, 'read'>,
  lines: Uint8Array,
  { start, size }: { readonly start: number; readonly size: number },
): Promise<Uint8Array> {
  // What was cut before the lines were written has moved them to the front, and what others wrote to the end.
  const from = Math.max(0, Math.min(start, size - lines.length) - 1);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
  const now = buffer.subarray(0, bytesRead);
  let isJoined = false;
  for (let at = now.indexOf(lines); at >= 0; at = now.indexOf(lines, at + 1)) {
    if (from + at === 0 || now[at - 1] === lineFeed) return new Uint8Array();
    isJoined = true;
  }
  if (isJoined) return lines.subarray(0, lines.indexOf(lineFeed) + 1);
  const kept = now.subarray(start - from);
  return kept.equals(lines.subarray(0, kept.length)) ? lines.subarray(kept.lastIndexOf(lineFeed) + 1) : lines;
}
