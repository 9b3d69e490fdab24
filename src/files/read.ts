import { createReadStream } from 'node:fs';
import { type FileHandle, readFile } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../errors.ts';

/** In bytes. */
export const longestChunk = 256 * 1024;
const newline = 0x0a;

/** The lines of a file without their line ends, in batches; a batch is valid until the next one is requested. */
export async function* linesOf(
  file: FileHandle,
): AsyncGenerator<readonly { readonly bytes: Uint8Array }[], void, undefined> {
  yield* linesIn(chunksOf(file, 0));
}

/** The same for bytes in chunks of any size. */
export async function* linesIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly { readonly bytes: Uint8Array }[], void, undefined> {
  let rest: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const lines: { bytes: Uint8Array }[] = [];
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, at);
      lines.push({ bytes: rest.length === 0 ? piece : Buffer.concat([...rest, piece]) });
      rest = [];
      start = at + 1;
    }
    if (start < chunk.length) rest.push(Buffer.from(chunk.subarray(start)));
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [{ bytes: Buffer.concat(rest) }];
}

/** The bytes between two positions, or up to the end of the file; a chunk is valid until the next one is requested. */
export async function* chunksOf(
  file: FileHandle,
  start: number,
  end = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(longestChunk);
  for (let position = start; position < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(longestChunk, end - position), position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The first `bytes` of a file, unpacked where they are compressed; all of them by default. */
export async function* unpacked(
  path: string,
  isCompressed: boolean,
  bytes = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(path, { end: bytes - 1, highWaterMark: longestChunk });
  // A failure to read ends the unpacking with it.
  yield* (isCompressed ? pipeline(raw, createGunzip(), () => undefined) : raw) as AsyncIterable<Buffer>;
}

/** All of a file, or of `stdin` for `-` where that is given. `failed` makes the error. `signal` ends it. */
export async function readInput(
  file: string,
  stdin: Readable | undefined,
  failed: (cause: unknown) => Error,
  signal?: AbortSignal,
): Promise<Buffer> {
  try {
    if (file !== '-' || stdin === undefined) return await readFile(file, { signal });
    return await buffer(signal === undefined ? stdin : addAbortSignal(signal, stdin));
  } catch (cause) {
    throw failed(cause);
  }
}

/** The text of a file in UTF-8; undefined when it does not exist. Throws the system's error for anything else. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes all of the bytes, however many the system takes at once. */
export async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

/**
 * The text of a file that holds a secret, in UTF-8: a byte order mark and one line break at the end are the editor's. Throws a
 * `ConfigError` for UTF-16, which PowerShell writes: its bytes would make another secret. `what`: the secret, for messages.
 */
export function textOfSecret(bytes: Uint8Array, what: string): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || bytes.includes(0)) {
    throw new ConfigError(`${what} is UTF-16 text`, {
      hint: 'write it as UTF-8, in PowerShell with Set-Content -Encoding utf8 -NoNewline',
    });
  }
  // The decoder removes the byte order mark.
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}
