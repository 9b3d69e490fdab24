import { createReadStream } from 'node:fs';
import { type FileHandle, readFile } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../errors.ts';
import { unreadable } from './errors.ts';

export const maxChunkBytes = 256 * 1024;
const newline = 0x0a;

/** Yields the lines that end in each chunk, without line ends. Such a batch is valid until the next one is requested. */
export async function* linesIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly { readonly bytes: Uint8Array }[], void, undefined> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const lines: { bytes: Uint8Array }[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      lines.push({ bytes: pending.length === 0 ? piece : Buffer.concat([...pending, piece]) });
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(Buffer.from(chunk.subarray(start)));
    if (lines.length > 0) yield lines;
  }
  if (pending.length > 0) yield [{ bytes: Buffer.concat(pending) }];
}

/** Yields the bytes from `start` to the end of the file. A chunk is valid until the next one is requested. */
export async function* chunksOf(file: FileHandle, start: number): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(maxChunkBytes);
  for (let position = start; ;) {
    const { bytesRead } = await file.read(buffer, 0, maxChunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export async function* unpacked(
  path: string,
  isCompressed: boolean,
  maxBytes = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(path, { end: maxBytes - 1, highWaterMark: maxChunkBytes });
  // `pipeline` ends the unpacking when reading fails.
  yield* (isCompressed ? pipeline(raw, createGunzip(), () => undefined) : raw) as AsyncIterable<Buffer>;
}

/** Reads a file whole, or `stdin` if there is one and the file is `-`. */
export async function readInput(
  file: string,
  stdin: Readable | undefined,
  errorFor: (cause: unknown) => Error,
  signal?: AbortSignal,
): Promise<Buffer> {
  try {
    if (file !== '-' || stdin === undefined) return await readFile(file, { signal });
    return await buffer(signal === undefined ? stdin : addAbortSignal(signal, stdin));
  } catch (cause) {
    throw errorFor(cause);
  }
}

/** Undefined when the file does not exist. Throws the system's error for anything else. */
export const readIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(ifMissing);

/** Gives undefined in place of the system's error for a missing file, and throws any other. */
export function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Reads a secret from a file, or from stdin for `-`. Throws a `ConfigError` where that cannot be read, or is no text. */
export async function readSecretText(file: string, stdin: Readable, label: string): Promise<string> {
  const place = `the ${label} ${file === '-' ? 'from stdin' : `in ${file}`}`;
  const errorFor = (cause: unknown): Error => new ConfigError(unreadable(place, cause), { cause });
  return textOfSecret(await readInput(file, stdin, errorFor), place);
}

/**
 * Returns the secret in a file, without the byte order mark and the line break that an editor adds. Throws a `ConfigError` for
 * UTF-16, which PowerShell writes: its bytes would make another secret.
 */
export function textOfSecret(bytes: Uint8Array, secretName: string): string {
  const hasMark = /^(fffe|feff)/.test(Buffer.from(bytes.subarray(0, 2)).toString('hex'));
  const isZeroAt = (parity: number) => bytes.every((byte, i) => i % 2 !== parity || byte === 0);
  if (hasMark || (bytes.length > 1 && (isZeroAt(0) || isZeroAt(1)))) {
    throw new ConfigError(`${secretName} is UTF-16 text`, {
      hint: 'write it as UTF-8, in PowerShell with Set-Content -Encoding utf8 -NoNewline',
    });
  }
  if (bytes.includes(0)) throw new ConfigError(`${secretName} holds a NUL character, which no secret has`);
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}
