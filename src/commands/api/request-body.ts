import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import { bodyOf } from './call-field.ts';
import type { ApiOptions } from './options.ts';

/** What a call sends: a file's bytes, or the fields as JSON. Throws a `DataError` for a file that cannot be read. */
export async function requestBody(
  { method, input, field }: Pick<ApiOptions, 'method' | 'input' | 'field'>,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): Promise<Uint8Array | undefined> {
  if (input === undefined) {
    const isQuery = method === 'GET' || method === 'HEAD' || field.length === 0;
    return isQuery ? undefined : Buffer.from(bodyOf(field));
  }
  const chunks: Buffer[] = [];
  try {
    const stream = addAbortSignal(signal, input === '-' ? stdin : createReadStream(input));
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array | string));
  } catch (cause) {
    signal.throwIfAborted();
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new DataError(`cannot read the body from ${input}: ${reason}`, { cause });
  }
  return Buffer.concat(chunks);
}
