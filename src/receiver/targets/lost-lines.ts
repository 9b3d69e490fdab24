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
  // What was cut before the lines were written has moved them to the front.
  for (const at of new Set([start, size - lines.length])) {
    const found = at < 0 ? undefined : await lineBreakAndBytes(handle, at, lines.length);
    if (found?.bytes.equals(lines) === true)
      return found.beginsLine ? new Uint8Array() : lines.subarray(0, lines.indexOf(lineFeed) + 1);
  }
  const kept = size - start;
  if (kept <= 0 || kept >= lines.length) return lines;
  const { bytes } = await lineBreakAndBytes(handle, start, kept);
  return bytes.equals(lines.subarray(0, kept)) ? lines.subarray(bytes.lastIndexOf(lineFeed) + 1) : lines;
}

async function lineBreakAndBytes(
  handle: Pick<FileHandle, 'read'>,
  at: number,
  length: number,
): Promise<{ readonly beginsLine: boolean; readonly bytes: Buffer }> {
  const from = Math.max(0, at - 1);
  const before = at - from;
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(before + length), 0, before + length, from);
  return {
    beginsLine: before === 0 || buffer[0] === lineFeed,
    bytes: buffer.subarray(before, bytesRead),
  };
}
