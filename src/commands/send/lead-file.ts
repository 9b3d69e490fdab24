import { createReadStream } from 'node:fs';
import { addAbortSignal, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { unreadable } from '../../files/errors.ts';
import type { Context } from '../../context.ts';
import { DataError, describe } from '../../errors.ts';
import { recordAt, type ScannedRecord } from '../../json/scanned-record.ts';
import { scanner } from '../../json/scanner.ts';
import { ValueSplitter } from '../../json/value-splitter.ts';
import type { LeadSource } from '../../sender/sender.ts';

type FileContext = Pick<Context, 'stdin' | 'signal'>;

/**
 * The leads of a file (`-`: of stdin) in their own bytes: one JSON object, an array of them, or one on each line. The file is
 * read as its leads are sent, so that one of any size needs little memory. Throws a `DataError` for a file that cannot be read,
 * and for what is not an object in JSON. Texts may hold bytes that are not UTF-8.
 */
export async function* leadsOfFile(file: string, context: FileContext): LeadSource {
  const name = nameOf(file);
  let count = 0;
  try {
    for await (const objects of objectsIn(chunksOf(file, context), name)) {
      for (const body of objects) {
        count += 1;
        yield { leadId: scannedObject(body, count, name).id, body };
      }
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
}

export const nameOf = (file: string): string => (file === '-' ? 'stdin' : file);

export type Chunks = AsyncIterable<Buffer>;

/** The objects at the top of a file, chunk by chunk. Throws a `DataError` for what is neither an object nor an array. */
export async function* objectsIn(chunks: Chunks, name: string): AsyncGenerator<readonly Buffer[]> {
  const splitter = new ValueSplitter();
  for await (const chunk of chunks) yield namingFile(name, () => splitter.push(chunk));
  namingFile(name, () => splitter.end());
}

/** The content of a file, uncompressed. Throws a `DataError` for one that cannot be read, and the reason of an interruption. */
export async function* chunksOf(file: string, { stdin, signal }: FileContext): Chunks {
  const stream = addAbortSignal(signal, file === '-' ? stdin : createReadStream(file));
  try {
    yield* uncompressed(stream);
    signal.throwIfAborted();
  } catch (cause) {
    // A stream that is destroyed ends with an error of its own.
    signal.throwIfAborted();
    throw new DataError(unreadable(`the leads in ${nameOf(file)}`, cause), { cause });
  } finally {
    stream.destroy();
  }
}

/** No JSON begins with the first byte of gzip (RFC 1952). */
const gzipByte = 0x1f;

async function* uncompressed(stream: AsyncIterable<Uint8Array | string>): Chunks {
  const iterator = stream[Symbol.asyncIterator]();
  const { value: first = '' } = (await iterator.next()) as { readonly value?: Uint8Array | string };
  const start = Buffer.from(first);
  const chunks = async function* (): Chunks {
    yield start;
    for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) yield Buffer.from(chunk);
  };
  yield* start[0] === gzipByte ? (pipeline(chunks, createGunzip(), () => undefined) as Chunks) : chunks();
}

/** Puts the name of the file before the message of a `DataError`. */
function namingFile<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    const { message, hint } = describe(error);
    throw new DataError(`${name}: ${message}`, { hint, cause: error });
  }
}

/** An object as a record, whose bytes are not compact; `nth` from 1. Throws a `DataError` for text that is not JSON. */
export function scannedObject(body: Buffer, nth: number, name: string): ScannedRecord {
  scanner.load(body);
  const end = scanner.valueEnd(0);
  if (end !== body.length) throw new DataError(`${name}: lead ${nth} is not JSON`);
  return recordAt(body, scanner.lastRow(), 0);
}
