import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Context, Outcome } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { linesIn, unreadable } from '../../files/read.ts';
import { bufferOf, utf8 } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';
import { recordOf } from '../../json/scanner.ts';
import { renderFields } from '../../output/fields.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { terminalWidth } from '../../output/terminal/terminal.ts';
import { agreements, type Comparison, compareLines, type Difference } from '../../statement/compare-lines.ts';
import {
  idDigest,
  readLine,
  type StatementLine,
  type StatementSalt,
} from '../../statement/statement-format.ts';
import type { CompareOptions } from './options.ts';
import type { ComparisonDocument } from './output-schema.ts';
import { knownSigners, readSalt } from './signing.ts';
import { SortedLines } from './sorted-lines.ts';
import { openStatement } from './statement-file.ts';
import { requireSalt } from './verify.ts';

/** Differences that a table shows; JSON has all of them up to a number that a reader can hold. */
const mostShown = 20;
const mostListed = 100_000;

export async function run(options: CompareOptions, context: Context): Promise<Outcome> {
  const { ours, theirs, salt: saltFile, format } = options;
  const { messages, stdout } = context;
  const here = await openStatement(ours);
  const salt = saltFile === undefined ? undefined : await readSalt(saltFile, context);
  if (salt !== undefined) requireSalt(salt.fingerprint, here.header, saltFile ?? '');
  const there = (await isStatement(theirs)) ? await openStatement(theirs) : undefined;
  if (there !== undefined && there.header.salt !== here.header.salt) {
    throw new UsageError(
      `the two were made with different salts: ${here.header.salt} and ${there.header.salt}`,
      {
        hint: "agree on one with 'leads statement salt', and make both again with --salt",
      },
    );
  }
  const { since, until } = here.header;
  if (there !== undefined && (there.header.since !== since || there.header.until !== until)) {
    messages.warn(
      `two periods: ${since} to ${until} here, and ${there.header.since} to ${there.header.until} there`,
    );
  }
  // Ours is signed by the own key, whatever file holds the partner's.
  const named = options.publicKey === undefined ? [] : await knownSigners(options.publicKey, context);
  const known = [...named, ...(await knownSigners(undefined, context))];
  const unknown = [here, ...(there === undefined ? [] : [there])].filter(
    ({ signer }) => !known.some(({ publicKey }) => publicKey.equals(signer.publicKey)),
  );
  for (const { header } of unknown)
    messages.warn(`unknown signer: ${header.signer} (--public-key, or statement-signers)`);
  const sorted = there === undefined ? await linesOfIds(theirs, salt) : undefined;
  try {
    const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Comparison;
    const fields = here.header.by.filter((field) => there?.header.by.includes(field) === true);
    const differences: Difference[] = [];
    const other = there?.lines() ?? linesOfTexts(sorted);
    for await (const difference of compareLines(here.lines(), other, fields, counts)) {
      if (differences.length < (format === 'json' ? mostListed : mostShown)) differences.push(difference);
    }
    if (format === 'json') await writeJson(stdout, { ...counts, differences } satisfies ComparisonDocument);
    else await write(stdout, drawn(counts, differences, context));
    return counts.both === total(counts) && unknown.length === 0 ? 'done' : 'problems';
  } finally {
    sorted?.close();
  }
}

const kinds = Object.keys(agreements) as readonly (keyof Comparison)[];

const total = (counts: Comparison): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

function drawn(counts: Comparison, differences: readonly Difference[], { stdout }: Context): string {
  const rows = [
    ...kinds.map((kind) => [agreements[kind], String(counts[kind])] as const),
    ...differences.map(({ difference, digest }) => [difference, digest] as const),
  ];
  return renderFields(rows, { width: terminalWidth(stdout) });
}

async function isStatement(path: string): Promise<boolean> {
  const start = Buffer.from('{"type":"leads/statement"');
  try {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(start.length), 0, start.length, 0);
      return buffer.equals(start);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new DataError(unreadable(path, cause), { cause });
  }
}

async function* linesOfTexts(sorted: SortedLines | undefined): AsyncGenerator<StatementLine> {
  for await (const texts of sorted?.texts() ?? []) {
    for (const text of texts) {
      const line = readLine(text);
      if (line !== undefined) yield line;
    }
  }
}

/** Ids alone say nothing of time: all of them count as in the period. */
async function linesOfIds(path: string, salt: StatementSalt | undefined): Promise<SortedLines> {
  if (salt === undefined)
    throw new UsageError(`${path} holds ids: --salt digests them as the statement's are`);
  const sorted = await SortedLines.open();
  let columns: Columns | undefined;
  let number = 0;
  for await (const batch of linesIn(createReadStream(path))) {
    const found: StatementLine[] = [];
    for (const { bytes } of batch) {
      number += 1;
      const text = utf8(bytes).replace(/^\ufeff|\r$/g, '');
      if (text.trim() === '') continue;
      const isRecord = text.trimStart().startsWith('{');
      if (columns === undefined && !isRecord) {
        columns = columnsOf(text);
        if (columns === undefined) throw new DataError(`${path}: the first line names no column id`);
        if (columns.isNamed) continue;
      }
      const id = isRecord ? recordOf(bufferOf(bytes))?.id : columns && idIn(text, columns);
      if (id === undefined || id === '') throw new DataError(`${path}: line ${number} has no id`);
      found.push({ digest: idDigest(salt, id), at: 0 });
    }
    sorted.add(found);
  }
  sorted.sort();
  return sorted;
}

interface Columns {
  /** A line break, which is in no line, where there is one column. */
  readonly separator: string;
  readonly id: number;
  /** Whether the first line has their names, and no id. */
  readonly isNamed: boolean;
}

/** From the first line of CSV: what stands between its names stands between all cells. */
function columnsOf(line: string): Columns | undefined {
  const separator = /[,;\t]/.exec(line.replace(/"[^"]*"/g, ''))?.[0] ?? '\n';
  const id = cellsOf(line, separator).findIndex((name) => /^(lead[ _-]?)?id$/i.test(name));
  return id < 0 && separator !== '\n' ? undefined : { separator, id: Math.max(0, id), isNamed: id >= 0 };
}

/** Undefined where the line has none. */
const idIn = (line: string, { separator, id }: Columns): string | undefined =>
  textIn(line) ?? cellsOf(line, separator)[id];

/** Of a line that is one JSON text. */
function textIn(line: string): string | undefined {
  const value = line.startsWith('"') ? jsonIn(line) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** White space belongs to a cell in quotes. None of a line that opens a quote and does not close it. */
function cellsOf(line: string, separator: string): readonly string[] {
  const cell = `${separator}(?: *"((?:[^"]|"")*)" *(?=${separator}|$)|(?! *")([^${separator}]*))`;
  const found = [...`${separator}${line}`.matchAll(new RegExp(cell, 'gy'))];
  const length = found.reduce((sum, [text]) => sum + text.length, 0);
  if (length !== separator.length + line.length) return [];
  return found.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim());
}
