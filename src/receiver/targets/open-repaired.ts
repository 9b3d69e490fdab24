import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { outputError } from '../../files/output-error.ts';

/** In bytes, read at a time from the end of the file. */
const chunkSize = 64 * 1024;

/**
 * Opens a file of lines for appending, and creates it where it is missing. A process that was killed while it wrote
 * leaves a part of a line: that is cut off, since its lead was never acknowledged. Throws an `OutputError`.
 */
export async function openRepaired(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = await file.stat();
    const end = await endOfLastLine(file, size);
    if (end < size) {
      await file.truncate(end);
      await file.sync();
    }
    return file;
  } catch (error) {
    throw outputError(error as NodeJS.ErrnoException, path);
  }
}

async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(chunkSize);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const lineFeed = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (lineFeed >= 0) return start + lineFeed + 1;
    end = start;
  }
  return 0;
}
