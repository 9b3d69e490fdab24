import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../../errors.ts';
import { appendDurably, digestFile, hexOf } from '../../files/append-durably.ts';
import { type OutputFile, writeBookmark } from '../../files/bookmark.ts';
import { withOutputErrors } from '../../files/output-error.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesOf } from '../../files/read.ts';
import { renameDurably } from '../../files/replace.ts';
import { Columns } from '../../output/records/csv.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { type Checkpoint, type FilePaths, partialIsOutput } from './checkpoint.ts';
import { changedMeanwhile, knownBeginning, type KnownFile, reopenKnownFile, sizeOf } from './known-file.ts';
import type { ExportOptions } from './options.ts';

/** What became of a file that was there before, for the summary. */
export type Publication = 'appended' | `replaced ${string}`;

/** An output under its name, and what a bookmark has to know of it. */
interface Output extends Pick<OutputFile, 'bytes' | 'sha256' | 'columns'> {
  readonly publication: Publication | undefined;
}

/**
 * Gives the file of a complete walk its name, or appends it, and moves the bookmark. A resume after a crash may repeat
 * every step. `file` is undefined when that is done already; `target` is the file to append to, when it was read at the
 * beginning of this run.
 */
export async function publishFile(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile | undefined,
  checkpoint: Checkpoint,
  target?: KnownFile,
): Promise<Publication | undefined> {
  const output =
    file === undefined ? await named(options, paths) : await place(options, paths, file, checkpoint, target);
  if (options.bookmark !== undefined && checkpoint.bookmark !== null && output !== undefined) {
    const { bytes, sha256, columns } = output;
    const { format, gzip } = options;
    await writeBookmark(options.bookmark, {
      ...checkpoint.bookmark,
      file: { bytes, sha256, format, gzip, columns },
    });
  }
  await rm(paths.drawn, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  return output?.publication;
}

/** A crash came after the partial file had become the output; any other partial file is removed after the bookmark has moved. */
const named = async (options: ExportOptions, { file }: FilePaths): Promise<Output | undefined> =>
  partialIsOutput(options) && options.bookmark !== undefined
    ? { ...(await lengthAndDigest(file)), columns: null, publication: undefined }
    : undefined;

async function place(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile,
  { appendTo = null, counts }: Checkpoint,
  target: KnownFile | undefined,
): Promise<Output> {
  // Its place may have been cleared between a crash and now: then the rest begins a new file.
  const isThere = ((await sizeOf(paths.file)) ?? 0) > 0;
  const base = appendTo === null || !isThere ? undefined : await openBase(paths.file, appendTo, target);
  // Without leads there is nothing to append, not even the empty member of a compressed file.
  if (base !== undefined && counts.leads === 0) return { ...base.known, publication: 'appended' };
  const drawn = partialIsOutput(options)
    ? undefined
    : await convert(file, paths, options, base?.known.columns ?? []);
  const columns = drawn?.columns ?? null;
  const source = drawn?.file ?? file;
  try {
    if (base !== undefined) {
      const appended = await appendDurably(paths.file, base.digest, source.handle);
      if (appended === undefined) throw changedMeanwhile(paths.file);
      return { ...appended, columns, publication: 'appended' };
    }
    const publication = isThere ? (`replaced ${await describeContent(paths.file)}` as const) : undefined;
    const known =
      options.bookmark === undefined ? { bytes: 0, sha256: '' } : await lengthAndDigest(source.path);
    await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
    return { ...known, columns, publication };
  } finally {
    await drawn?.file.close();
  }
}

const openBase = (path: string, appendTo: OutputFile, target: KnownFile | undefined): Promise<KnownFile> =>
  target === undefined ? knownBeginning(path, appendTo) : reopenKnownFile(path, target);

async function lengthAndDigest(path: string): Promise<Pick<OutputFile, 'bytes' | 'sha256'>> {
  const digest = await digestFile(path);
  return { bytes: digest.bytes, sha256: hexOf(digest) };
}

interface Converted {
  /** On disk, and open. */
  readonly file: PartialFile;
  /** Of a CSV file. */
  readonly columns: readonly string[] | null;
}

/**
 * Writes the partial file's records in the output's form into a file of its own. `header` are the columns of a CSV file
 * that it will be appended to: throws a `UsageError` when the records have others.
 */
async function convert(
  from: PartialFile,
  paths: FilePaths,
  options: ExportOptions,
  header: readonly string[] = [],
): Promise<Converted> {
  const isCsv = options.format === 'csv';
  const columns = options.fields ?? (isCsv ? await columnsOf(from, header, paths.file) : undefined);
  const file = await PartialFile.create(paths.drawn, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compressed = options.gzip ? gzipSink(sink) : sink;
    const repeated = isCsv && header.length > 0 ? await headerLength(columns ?? []) : 0;
    const records = await recordWriter(options.format, without(repeated, compressed), {
      fields: columns,
      escapeFormulas: options.escape,
      byteOrderMark: options.bom && repeated === 0,
    });
    for await (const lines of linesOf(from.handle)) await records.write(lines);
    await records.end();
    await file.sync();
    return { file, columns: isCsv ? (columns ?? null) : null };
  } catch (error) {
    await file.close();
    await rm(file.path, { force: true });
    throw error;
  }
}

async function columnsOf(
  from: PartialFile,
  header: readonly string[],
  path: string,
): Promise<readonly string[]> {
  const columns = new Columns();
  for await (const lines of linesOf(from.handle)) for (const { bytes } of lines) columns.learn(bytes);
  if (header.length === 0) return columns.paths;
  const added = columns.paths.filter((column) => !header.includes(column));
  if (added.length === 0) return header;
  throw new UsageError(
    `cannot append to ${path}: the new leads have fields that it has no column for: ${added.join(', ')}`,
    {
      hint: 'name another file; --fields sets the columns once and for all',
    },
  );
}

/** Bytes of the header line, as the writer itself writes it. */
async function headerLength(columns: readonly string[]): Promise<number> {
  let length = 0;
  const count: ByteSink = {
    write: (bytes) => Promise.resolve(void (length += bytes.length)),
    end: () => Promise.resolve(),
  };
  await (await recordWriter('csv', count, { fields: columns })).end();
  return length;
}

/** The same sink without the first bytes. */
function without(skipped: number, sink: ByteSink): ByteSink {
  let left = skipped;
  return {
    async write(bytes) {
      const rest = bytes.subarray(Math.min(left, bytes.length));
      left -= bytes.length - rest.length;
      if (rest.length > 0) await sink.write(rest);
    },
    end: () => sink.end(),
  };
}

const [quote, comma, newline, brace, bracket] = [0x22, 0x2c, 0x0a, 0x7b, 0x5b];

/** What a file holds, such as `251 leads`: counted if it looks like an export of ours, otherwise in bytes. */
export async function describeContent(path: string): Promise<string> {
  return withOutputErrors(path, async () => {
    const { size, isCompressed } = await inspect(path);
    const raw = createReadStream(path, { highWaterMark: 256 * 1024 });
    const plain = (isCompressed ? raw.pipe(createGunzip()) : raw) as AsyncIterable<Buffer>;
    const leads = await countRecords(plain);
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

/** Undefined for what looks like no export of ours. What is compressed and cut off counts as far as it can be read. */
async function countRecords(chunks: AsyncIterable<Buffer>): Promise<number | undefined> {
  let counter: RecordCounter | undefined;
  try {
    for await (const chunk of chunks) {
      counter ??= chunk[0] === brace || chunk[0] === bracket ? new ObjectCounter() : new RowCounter();
      counter.add(chunk);
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
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
