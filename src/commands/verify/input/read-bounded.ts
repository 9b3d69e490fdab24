import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import type { Context } from '../../../context.ts';
import { DataError } from '../../../errors.ts';

/** In bytes. A HAR of a long session has tens of megabytes; one delivery has at most a few. */
const mostBytes = 64 * 1024 * 1024;

/**
 * A file, or stdin for `-`, read up to a limit: what is larger is no capture. Throws a `DataError` for what is too large or
 * cannot be read. `what` names it in the error.
 */
export async function readBounded(
  file: string,
  what: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream = addAbortSignal(signal, file === '-' ? stdin : createReadStream(file));
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Uint8Array | string);
      size += bytes.length;
      if (size > mostBytes) throw tooLarge(what);
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    signal.throwIfAborted();
    throw unreadableFile(file, what, cause);
  }
  return Buffer.concat(chunks);
}

/**
 * The same for a file that a capture names, which must be a regular file: somebody else wrote the capture, and reading a
 * device or a pipe may never end.
 */
export async function readNamedFile(
  file: string,
  context: Pick<Context, 'stdin' | 'signal'>,
): Promise<Buffer> {
  const what = 'the body that the capture names';
  try {
    const handle = await open(file, 'r');
    try {
      if (!(await handle.stat()).isFile()) throw new DataError(`${what} is no file: ${file}`);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    throw unreadableFile(file, what, cause);
  }
  return readBounded(file, what, context);
}

const tooLarge = (what: string): DataError =>
  new DataError(`${what} is larger than ${mostBytes / 1024 / 1024} MiB`, {
    hint: 'save only the request that is meant',
  });

function unreadableFile(file: string, what: string, cause: unknown): DataError {
  const { code } = cause as NodeJS.ErrnoException;
  return new DataError(`cannot read ${what} in ${file}: ${code ?? String(cause)}`, {
    cause,
    hint: code === 'ENOENT' && what !== 'the capture' ? 'give it with --body FILE' : undefined,
  });
}
