import { open, stat } from 'node:fs/promises';
import { UsageError } from '../../errors.ts';
import { digestFile, type FileDigest, hexOf, isUnchanged } from '../../files/append-durably.ts';
import type { Bookmark, OutputFile } from './bookmark.ts';
import { withOutputErrors } from '../../files/errors.ts';
import type { ExportOptions } from './options.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { leadColumns } from '../../output/records/csv.ts';
import { counted } from '../../output/terminal/progress.ts';

/** A file that is as a bookmark knows it, and can be appended to. */
export interface KnownFile {
  readonly known: OutputFile;
  readonly digest: FileDigest;
}

const otherPlace = 'name another file, or use --replace to keep only what is new';

/**
 * The file to append to; undefined: there is none yet, or an empty one. Throws a `UsageError` for a file that the bookmark
 * does not know by its length and digest, so that nothing of another origin is appended to or lost. `mayHaveGrown`: what
 * stands behind the known bytes is judged when this run appends.
 */
export async function findKnownFile(
  path: string,
  options: ExportOptions,
  bookmark: Bookmark | undefined,
  mayHaveGrown = false,
): Promise<KnownFile | undefined> {
  const size = await sizeOf(path);
  if (size === undefined || size === 0) return undefined;
  const known = bookmark?.file;
  if (known === undefined) throw unknownFile(path, reasonFor(bookmark));
  if (known.bytes !== size && !(mayHaveGrown && known.bytes < size)) {
    throw unknownFile(path, `it has ${size} bytes, and had ${known.bytes} when the bookmark was written`);
  }
  const digest = await digestIfKnown(path, known);
  if (digest === undefined) throw unknownFile(path, 'its content has changed since the bookmark was written');
  checkForm(path, options, known);
  return { known, digest };
}

/**
 * The same file at the end of a walk, or after a crash, where its digest has to be taken again: what stands behind the known
 * bytes is for others to judge. Throws a `UsageError` when it does not begin with them any more.
 */
export async function reopenKnownFile(path: string, before: KnownFile | OutputFile): Promise<KnownFile> {
  if ('digest' in before && (await isUnchanged(path, before.digest))) return before;
  const known = 'digest' in before ? before.known : before;
  const digest = await digestIfKnown(path, known);
  if (digest === undefined) throw changedMeanwhile(path);
  return { known, digest };
}

/** Digests the known bytes; undefined when the file does not begin with them. */
async function digestIfKnown(path: string, known: OutputFile): Promise<FileDigest | undefined> {
  const digest = await digestFile(path, known.bytes);
  return digest.bytes === known.bytes && hexOf(digest) === known.sha256 ? digest : undefined;
}

/** Whether it is that file, and nothing stands behind. */
export const isKnown = async (path: string, known: OutputFile): Promise<boolean> =>
  (await sizeOf(path)) === known.bytes && (await digestIfKnown(path, known)) !== undefined;

export const changedMeanwhile = (path: string): UsageError =>
  new UsageError(`cannot append to ${path}: it has changed since this export began`, { hint: otherPlace });

/** Resolves to the size in bytes; undefined when there is no file. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return withOutputErrors(path, async () => {
    try {
      return (await stat(path)).size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  });
}

function reasonFor(bookmark: Bookmark | undefined): string {
  if (bookmark === undefined) return 'there is no bookmark yet';
  return 'the last run with this bookmark wrote to another place';
}

const unknownFile = (path: string, why: string): UsageError =>
  new UsageError(`${path} is not the file that this bookmark knows: ${why}`, { hint: otherPlace });

function checkForm(
  path: string,
  { format, gzip, fields, delimiter = ',' }: ExportOptions,
  known: OutputFile,
): void {
  if (format === 'json') {
    throw new UsageError(`cannot append to ${path}: a JSON array ends with its last lead`, {
      hint: `use --format ndjson, ${otherPlace.replace('name', 'or name')}`,
    });
  }
  const form = (name: string, isCompressed: boolean): string =>
    `${name}${isCompressed ? ', compressed' : ''}`;
  const [before, now] = [form(known.format, known.gzip), form(format, gzip)];
  if (before !== now) {
    throw new UsageError(`cannot append ${now} to ${path}: it holds ${before}`, { hint: otherPlace });
  }
  const cells = known.delimiter ?? ',';
  if (format === 'csv' && cells !== delimiter) {
    throw new UsageError(`cannot append to ${path}: its cells stand between '${cells}'`, {
      hint: otherPlace,
    });
  }
  const columns = known.columns?.join(',') ?? '';
  if (format === 'csv' && leadColumns(fields).join(',') !== columns) {
    throw new UsageError(`cannot append to ${path}: it has the columns ${columns}`, {
      hint: `give the --fields of then, ${otherPlace.replace('name', 'or name')}`,
    });
  }
}

/** What a file holds, such as `251 leads`: counted if it looks like an export of ours, otherwise in bytes. */
export async function describeContent(path: string): Promise<string> {
  return withOutputErrors(path, async () => {
    const { size, isCompressed, isWorkbook } = await inspect(path);
    const leads = isWorkbook ? undefined : await countLeads(unpacked(path, isCompressed));
    return leads === undefined ? counted(size, 'byte', 'bytes') : counted(leads, 'lead', 'leads');
  });
}

interface Beginning {
  readonly size: number;
  readonly isCompressed: boolean;
  readonly isWorkbook: boolean;
}

async function inspect(path: string): Promise<Beginning> {
  const file = await open(path, 'r');
  try {
    const beginning = Buffer.alloc(2);
    await file.read(beginning, 0, 2, 0);
    const { size } = await file.stat();
    const isCompressed = beginning[0] === 0x1f && beginning[1] === 0x8b;
    return { size, isCompressed, isWorkbook: beginning.toString('latin1') === 'PK' };
  } finally {
    await file.close();
  }
}

const [quote, brace, bracket] = [0x22, 0x7b, 0x5b];
const delimiters = [...Buffer.from(',;\t|')];

/** Undefined for what looks like no export of ours. What is compressed and cut off counts as far as it can be read. */
async function countLeads(chunks: AsyncIterable<Buffer>): Promise<number | undefined> {
  let first: Uint8Array | undefined;
  let [objects, rows, isQuoted] = [0, 0, false];
  try {
    for await (const lines of linesIn(chunks)) {
      for (const { bytes } of lines) {
        first ??= bytes;
        // A lead of NDJSON, or of an array of ours, begins so. No other byte of a lead is looked at.
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
  return delimiters.some((byte) => first?.includes(byte)) ? Math.max(0, rows - 1) : undefined;
}
