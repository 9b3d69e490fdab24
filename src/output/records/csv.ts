import { DataError } from '../../errors.ts';
import { cellText, eachMember, FieldPaths, holdsHalf } from './json-members.ts';
import { WriteBuffer } from './json-records.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';
import type { OutputProblem } from '../problems.ts';
import { sanitize } from '../terminal/terminal.ts';
import { TemporaryRecords } from './temporary-records.ts';
import { utf8 } from '../../json/bytes.ts';

/** More columns are of no use, and a hostile sender could name a new one in every record. */
const maxColumns = 10_000;

/** The columns of many records: the union of their members' dotted paths, in the order of first appearance. */
export class Columns {
  readonly #paths = new Set<string>();

  get paths(): readonly string[] {
    return [...this.#paths];
  }

  /** Adds the fields of one record. Throws a `DataError` when there are too many. */
  learn(record: Uint8Array): void {
    eachMember(utf8(record), (path) => this.#paths.add(path));
    if (this.#paths.size > maxColumns) {
      throw new DataError({ kind: 'too-many-columns', most: maxColumns } satisfies OutputProblem);
    }
  }
}

/**
 * RFC 4180 with a header line. Without `fields` the columns are the union over all records, so these wait in a
 * temporary file until the last one is known; memory stays bounded.
 */
export function csvWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  if (options.fields !== undefined) return csvRows(sink, options.fields, options);
  const columns = new Columns();
  const spool = new TemporaryRecords();
  return {
    async write(leads) {
      for (const { bytes } of leads) columns.learn(bytes);
      await spool.write(leads);
    },
    flush: () => Promise.resolve(),
    async end() {
      try {
        const rows = csvRows(sink, columns.paths, options);
        for await (const records of spool.records()) await rows.write(records);
        await rows.end();
      } finally {
        await spool.close();
      }
    },
  };
}

/** Rows for columns that are known; one path may stand in several. */
function csvRows(sink: ByteSink, columns: readonly string[], options: WriterOptions): RecordWriter {
  const {
    terminal = false,
    escapeFormulas = true,
    byteOrderMark = false,
    header: wantsHeader = true,
    delimiter = ',',
  } = options;
  const out = new WriteBuffer(sink);
  const places = new Map<string, number[]>();
  columns.forEach((path, i) => places.set(path, [...(places.get(path) ?? []), i]));
  const asked = new FieldPaths(columns);
  const display = terminal ? (text: string) => sanitize(text) : (text: string) => text;
  const guard = escapeFormulas ? escapeFormula : (text: string) => text;
  const lineEnd = terminal ? '\n' : '\r\n';
  const mark = byteOrderMark ? '\ufeff' : '';
  const header =
    mark + columns.map((path) => quote(display(guard(path)), delimiter)).join(delimiter) + lineEnd;
  let hasHeader = !wantsHeader;
  let replaced = 0;
  const writeHeader = async (): Promise<void> => {
    if (hasHeader || columns.length === 0) return;
    hasHeader = true;
    await out.addAny(Buffer.from(header));
  };
  return {
    async write(leads) {
      await writeHeader();
      for (const { bytes } of leads) {
        const cells = new Array<string>(columns.length).fill('');
        const visit = (path: string, raw: string): void => {
          const text = cellText(raw);
          for (const column of places.get(path) ?? []) {
            // A number is no formula, whatever its sign; a text may be one.
            cells[column] = quote(display(raw.startsWith('"') ? guard(text) : text), delimiter);
          }
        };
        const json = utf8(bytes);
        eachMember(json, visit, asked);
        const row = cells.join(delimiter) + lineEnd;
        if (json.includes('\\u') && holdsHalf(row)) replaced += cells.filter(holdsHalf).length;
        await out.addAny(Buffer.from(row));
      }
    },
    flush: () => out.flush(),
    async end() {
      await writeHeader();
      await out.flush();
      await sink.end();
      if (replaced > 0) options.onReplaced?.(replaced);
    },
  };
}

const [quoteByte, returnByte] = [0x22, 0x0d];

/** The rows of a file of `csvWriter`, with more columns behind its own: their names in the header, then empty cells. */
export async function* withMoreColumns(
  chunks: AsyncIterable<Uint8Array>,
  added: readonly string[],
  { escapeFormulas = true, delimiter = ',' }: WriterOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const guard = escapeFormulas ? escapeFormula : (text: string) => text;
  const emptyCells = Buffer.from(delimiter.repeat(added.length));
  let cells = Buffer.from(added.map((path) => delimiter + quote(guard(path), delimiter)).join(''));
  let isQuoted = false;
  for await (const chunk of chunks) {
    const pieces: Uint8Array[] = [];
    let start = 0;
    chunk.forEach((byte, at) => {
      if (byte === quoteByte) isQuoted = !isQuoted;
      // Within a cell it is quoted.
      if (byte !== returnByte || isQuoted) return;
      pieces.push(chunk.subarray(start, at), cells);
      start = at;
      cells = emptyCells;
    });
    yield Buffer.concat([...pieces, chunk.subarray(start)]);
  }
}

/** Spreadsheets evaluate cells that begin like a formula (OWASP, "CSV Injection"): an apostrophe makes them text. */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;

const quote = (text: string, delimiter: string): string =>
  /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
