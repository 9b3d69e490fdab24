import { utf8 } from '../../json/bytes.ts';
import { sanitize } from '../terminal/terminal.ts';
import { cellText, FieldPaths, splitMembers } from './json-members.ts';
import { WriteBuffer } from './json-records.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';

/** The fields of the specification, section 2. */
const specifiedFields = [
  'id',
  'category',
  'contact.name',
  'contact.email',
  'contact.phone',
  'metadata.source',
  'createdAt',
];

/**
 * Returns the columns of leads, without the last one, `other`. They do not depend on the leads: the header is written first, and
 * a later lead with more fields must fit under it. `fields` are those of `--fields`.
 */
export const leadColumns = (fields: readonly string[] = []): readonly string[] => [
  ...new Set([...specifiedFields, ...fields]),
];

/** Returns the fields of the columns of leads: the first one is their id, whatever its name. */
export const columnFields = (columns: readonly string[], idName = 'id'): readonly string[] => [
  idName,
  ...columns.slice(1),
];

/** Holds everything without a column as one JSON object. */
export const otherColumn = 'other';

/** Writes CSV (RFC 4180). */
export function csvWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const {
    terminal = false,
    escapeFormulas = true,
    byteOrderMark = false,
    header: hasHeader = true,
    delimiter = ',',
    fields,
    idName,
    columns = leadColumns(fields),
  } = options;
  // With columns of its own a record has these fields only.
  const hasOther = options.columns === undefined;
  const paths = hasOther ? columnFields(columns, idName) : columns;
  const out = new WriteBuffer(sink);
  const places = placesOf(paths);
  const fieldPaths = new FieldPaths(paths);
  const display = terminal ? (text: string) => sanitize(text) : (text: string) => text;
  const guard = escapeFormulas ? escapeFormula : (text: string) => text;
  const lineEnd = terminal ? '\n' : '\r\n';
  const rowOf = (cells: readonly string[]): string =>
    cells.map((cell) => quote(display(cell), delimiter)).join(delimiter) + lineEnd;
  const names = hasOther ? [...columns, otherColumn] : columns;
  let isBegun = false;
  const begin = async (): Promise<void> => {
    if (isBegun) return;
    isBegun = true;
    if (byteOrderMark) await out.addAny(Buffer.from('\ufeff'));
    if (hasHeader) await out.addAny(Buffer.from(rowOf(names.map(guard))));
  };
  return {
    async write(leads) {
      await begin();
      for (const { bytes } of leads) {
        const cells = new Array<string>(names.length).fill('');
        const visit = (path: string, raw: string): void => {
          // A number is no formula, whatever its sign; a text may be one.
          const text = raw.startsWith('"') ? guard(cellText(raw)) : cellText(raw);
          for (const column of places.get(path) ?? []) cells[column] = text;
        };
        const remaining = splitMembers(utf8(bytes), fieldPaths, visit);
        if (hasOther) cells[columns.length] = remaining ?? '';
        await out.addAny(Buffer.from(rowOf(cells)));
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

/** The numbers of the columns of each path: with an id of another name, one field may have two. */
function placesOf(columns: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  columns.forEach((path, i) => places.set(path, [...(places.get(path) ?? []), i]));
  return places;
}

/**
 * Spreadsheets evaluate cells that begin like a formula (OWASP, "CSV Injection"), with the full-width forms of the signs too: an
 * apostrophe makes them text.
 */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;

const quote = (text: string, delimiter: string): string =>
  /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
