import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { withOutputErrors } from '../../../files/output-error.ts';
import { counted } from '../../../output/terminal/progress.ts';

const [quote, newline, brace, bracket] = [0x22, 0x0a, 0x7b, 0x5b];

/** What a file holds, such as `251 leads`: counted if it looks like an export of ours, otherwise in bytes. */
export async function describeContent(path: string): Promise<string> {
  return withOutputErrors(path, async () => {
    const file = await open(path, 'r');
    const beginning = Buffer.alloc(2);
    await file.read(beginning, 0, 2, 0);
    const { size } = await file.stat();
    await file.close();
    const isCompressed = beginning[0] === 0x1f && beginning[1] === 0x8b;
    const raw = createReadStream(path, { highWaterMark: 256 * 1024 });
    const plain = (isCompressed ? raw.pipe(createGunzip()) : raw) as AsyncIterable<Buffer>;
    const leads = await countRecords(plain).catch(() => undefined);
    raw.destroy();
    return leads === undefined ? counted(size, 'byte', 'bytes') : counted(leads, 'lead', 'leads');
  });
}

/** Lines that begin an object in NDJSON and in an array of ours, rows below the header in CSV; undefined: neither. */
async function countRecords(chunks: AsyncIterable<Buffer>): Promise<number | undefined> {
  let first: number | undefined;
  let objects = 0;
  let rows = 0;
  let isQuoted = false;
  let hasComma = false;
  let atLineStart = true;
  for await (const chunk of chunks) {
    first ??= chunk[0];
    for (const byte of chunk) {
      if (atLineStart && byte === brace) objects += 1;
      if (byte === quote) isQuoted = !isQuoted;
      if (byte === newline && !isQuoted) rows += 1;
      hasComma ||= rows === 0 && byte === 0x2c;
      atLineStart = byte === newline;
    }
  }
  if (first === brace || first === bracket) return objects;
  return hasComma ? Math.max(0, rows - 1) : undefined;
}
