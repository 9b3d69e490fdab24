import { DataError } from '../../errors.ts';
import { cellText, eachMember } from './json-members.ts';
import { WriteBuffer } from './write-buffer.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';
import { sanitize } from '../sanitize.ts';
import { TemporaryRecords } from './temporary-records.ts';
import { utf8 } from '../../json/bytes.ts';

/** A table with more columns is of no use to anybody, and a hostile sender could name a new one in every record. */
const mostColumns = 10_000;

/** The columns of many records: the union of their members' dotted paths, in the order of first appearance. */
export class Columns {
  readonly #paths = new Set<string>();

  get paths(): readonly string[] {
    return [...this.#paths];
  }

  learn(record: Uint8Array): void {
    eachMember(utf8(record), (path) => this.#paths.add(path));
    if (this.#paths.size > mostColumns) {
      throw new DataError(`the leads have more than ${mostColumns} different fields`, {
        hint: 'name the columns with --fields',
      });
    }
  }
}

/**
 * RFC 4180 with a header line. Without `fields` the columns are the union over all records, so these wait in a
 * temporary file until the last one is known; memory stays bounded.
 */
export async function csvWriter(sink: ByteSink, options: WriterOptions = {}): Promise<RecordWriter> {
  if (options.fields !== undefined) return csvRows(sink, options.fields, options.terminal);
  const columns = new Columns();
  const spool = await TemporaryRecords.open();
  return {
    async write(leads) {
      for (const { bytes } of leads) columns.learn(bytes);
      await spool.write(leads);
    },
    flush: () => Promise.resolve(),
    async end() {
      try {
        const rows = csvRows(sink, columns.paths, options.terminal);
        for await (const records of spool.records()) await rows.write(records);
        await rows.end();
      } finally {
        await spool.close();
      }
    },
  };
}

/** Rows for columns that are known. */
export function csvRows(sink: ByteSink, columns: readonly string[], terminal = false): RecordWriter {
  const out = new WriteBuffer(sink);
  const index = new Map(columns.map((path, i) => [path, i]));
  const draw = terminal ? (text: string) => sanitize(text) : (text: string) => text;
  const lineEnd = terminal ? '\n' : '\r\n';
  const header = columns.map((path) => quote(draw(disarm(path)))).join(',') + lineEnd;
  let begun = false;
  const begin = async (): Promise<void> => {
    if (begun || columns.length === 0) return;
    begun = true;
    await out.addAny(Buffer.from(header));
  };
  return {
    async write(leads) {
      await begin();
      for (const { bytes } of leads) {
        const cells = new Array<string>(columns.length).fill('');
        eachMember(
          utf8(bytes),
          (path, raw) => {
            const column = index.get(path);
            // Numbers are no formulas, whatever their sign; text may be.
            const text = cellText(raw);
            if (column !== undefined) cells[column] = quote(draw(raw.startsWith('"') ? disarm(text) : text));
          },
          (path) => index.has(path),
        );
        await out.addAny(Buffer.from(cells.join(',') + lineEnd));
      }
    },
    flush: () => out.flush(),
    async end() {
      await begin();
      await out.flush();
      await sink.end();
    },
  };
}

/** Spreadsheets run cells that begin like a formula (OWASP, "CSV Injection"): an apostrophe makes them text. */
const disarm = (text: string): string =>
  /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
