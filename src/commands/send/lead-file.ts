import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Context } from '../../context.ts';
import { DataError, messageOf } from '../../errors.ts';
import { describe } from '../../messages/command-line.ts';
import { recordAt } from '../../json/scanned-record.ts';
import { scanner } from '../../json/scanner.ts';
import { ValueSplitter } from '../../json/value-splitter.ts';
import type { LeadSource, SourceLead } from './outgoing-deliveries.ts';

/**
 * The leads of a file (`-`: of stdin) in their own bytes: one JSON object, an array of them, or one on each line. Read as
 * they are sent, so that a file of any size needs little memory. Throws a `DataError` for a file that cannot be read, and
 * for what is not an object in JSON; bytes that are not UTF-8 may stand in its texts.
 */
export async function* leadsOfFile(
  file: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): LeadSource {
  const stream = file === '-' ? stdin : createReadStream(file);
  const name = file === '-' ? 'stdin' : file;
  const splitter = new ValueSplitter();
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop);
  let count = 0;
  try {
    for await (const chunk of chunksOf(stream, name)) {
      const leads: SourceLead[] = [];
      let failure: unknown;
      for (const body of inFile(name, () => splitter.push(chunk))) {
        try {
          leads.push(inFile(name, () => leadOf(body, (count += 1))));
        } catch (error) {
          failure = error;
          break;
        }
      }
      // What stands before a record that is no lead is sent.
      if (leads.length > 0) yield leads;
      if (failure !== undefined) throw failure as Error;
    }
    if (!signal.aborted) inFile(name, () => splitter.end());
  } catch (error) {
    // A stream that is destroyed ends with an error of its own.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
}

async function* chunksOf(stream: Readable, name: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield Buffer.from(chunk as Uint8Array | string);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new DataError(`cannot read the leads in ${name}: ${code ?? messageOf(cause)}`, { cause });
  }
}

function inFile<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    const { message, hint } = describe(error);
    throw new DataError(`${name}: ${message}`, { hint, cause: error });
  }
}

/** `nth` from 1. Throws a `DataError` for text that is not JSON. */
function leadOf(body: Buffer, nth: number): SourceLead {
  scanner.load(body);
  const end = scanner.valueEnd(0);
  if (end !== body.length) throw new DataError(`lead ${nth} is not JSON`);
  return { leadId: recordAt(body, scanner.lastRow(), 0).id, body };
}
