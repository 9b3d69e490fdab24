import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { withOutputErrors } from '../../../files/output-error.ts';
import { counted } from '../../../output/terminal/progress.ts';

const [quote, comma, newline, brace, bracket] = [0x22, 0x2c, 0x0a, 0x7b, 0x5b];

/** What a file holds, such as `251 leads`: counted if it looks like an export of ours, otherwise in bytes. */
export async function describeContent(path: string): Promise<string> {
  return withOutputErrors(path, async () => {
    const { size, isCompressed } = await inspect(path);
    const raw = createReadStream(path, { highWaterMark: 256 * 1024 });
    const plain = (isCompressed ? raw.pipe(createGunzip()) : raw) as AsyncIterable<Buffer>;
    const leads = await countRecords(plain).catch(() => undefined);
    raw.destroy();
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

/** Counts the records of a text that comes in chunks. */
interface RecordCounter {
  add(chunk: Buffer): void;
  /** Undefined for a text of another form. */
  readonly total: number | undefined;
}

/** Undefined for what looks like no export of ours. */
async function countRecords(chunks: AsyncIterable<Buffer>): Promise<number | undefined> {
  let counter: RecordCounter | undefined;
  for await (const chunk of chunks) {
    counter ??= chunk[0] === brace || chunk[0] === bracket ? new ObjectCounter() : new RowCounter();
    counter.add(chunk);
  }
  return counter?.total;
}

/** Lines that begin an object, in NDJSON and in an array of ours. Goes from line to line: no byte of a lead is looked at. */
class ObjectCounter implements RecordCounter {
  total = 0;
  #isAtLineStart = true;

  add(chunk: Buffer): void {
    let start = this.#isAtLineStart ? 0 : chunk.indexOf(newline) + 1;
    if (start === 0 && !this.#isAtLineStart) return;
    while (start < chunk.length) {
      if (chunk[start] === brace) this.total += 1;
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      start = end + 1;
    }
    this.#isAtLineStart = start === chunk.length;
  }
}

/** Rows below the header of a CSV file. Line ends inside of quotes belong to a row. */
class RowCounter implements RecordCounter {
  #rows = 0;
  #isQuoted = false;
  #hasComma = false;

  add(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte === quote) this.#isQuoted = !this.#isQuoted;
      if (byte === newline && !this.#isQuoted) this.#rows += 1;
      this.#hasComma ||= this.#rows === 0 && byte === comma;
    }
  }

  get total(): number | undefined {
    return this.#hasComma ? Math.max(0, this.#rows - 1) : undefined;
  }
}
