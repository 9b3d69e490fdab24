import { readFile } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';

/**
 * The lines of an NDJSON file (`-`: of stdin) that are not blank, each in its own bytes; whether they are leads is
 * checked when the sandbox takes them. Throws a `DataError` for a file that cannot be read.
 */
export async function readRecords(file: string, context: Context): Promise<Uint8Array[]> {
  const bytes = file === '-' ? await readStdin(context) : await readNamed(file);
  const records: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (line.toString('latin1').trim() !== '') records.push(line);
    start = end + 1;
  }
  return records;
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new DataError(`cannot read the leads in ${file}: ${code ?? String(cause)}`, { cause });
  }
}

async function readStdin({ stdin }: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
