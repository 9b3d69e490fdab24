import { open } from 'node:fs/promises';
import { withOutputErrors } from '../../files/output-error.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { counted } from '../../output/terminal/progress.ts';

/** What a file holds, such as `251 leads`: counted if it looks like an export of ours, otherwise in bytes. */
export async function describeContent(path: string): Promise<string> {
  return withOutputErrors(path, async () => {
    const { size, isCompressed } = await inspect(path);
    const leads = await countLeads(unpacked(path, isCompressed));
    return leads === undefined ? counted(size, 'byte', 'bytes') : counted(leads, 'lead', 'leads');
  });
}

async function inspect(path: string): Promise<{ readonly size: number; readonly isCompressed: boolean }> {
  const file = await open(path, 'r');
  try {
    const beginning = Buffer.alloc(2);
    await file.read(beginning, 0, 2, 0);
    const { size } = await file.stat();
    return { size, isCompressed: beginning[0] === 0x1f && beginning[1] === 0x8b };
  } finally {
    await file.close();
  }
}

const [quote, comma, brace, bracket] = [0x22, 0x2c, 0x7b, 0x5b];

/** Undefined for what looks like no export of ours. What is compressed and cut off counts as far as it can be read. */
async function countLeads(chunks: AsyncIterable<Buffer>): Promise<number | undefined> {
  let first: Uint8Array | undefined;
  let [objects, rows, isQuoted] = [0, 0, false];
  try {
    for await (const lines of linesIn(chunks)) {
      for (const { bytes } of lines) {
        first ??= bytes;
        // Of NDJSON and of an array of ours. No other byte of a lead is looked at.
        if (bytes[0] === brace) objects += 1;
        if (first[0] === brace || first[0] === bracket) continue;
        for (const byte of bytes) if (byte === quote) isQuoted = !isQuoted;
        // A line end inside of quotes belongs to a row of CSV.
        if (!isQuoted) rows += 1;
      }
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
  }
  if (first?.[0] === brace || first?.[0] === bracket) return objects;
  return first?.includes(comma) === true ? Math.max(0, rows - 1) : undefined;
}
