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

/** The paths of the fields in these columns: the column `id`, which is the first, holds the field that the service uses as id. */
export const columnPaths = (columns: readonly string[], idName = 'id'): readonly string[] => [
  idName,
  ...columns.slice(1),
];

/** The last column of leads: one JSON object with all that has no column. */
export const otherColumn = 'other';

/** Writes CSV (RFC 4180). With `columns`, records have these columns alone; leads have theirs and `other`. */
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
  const hasOther = options.columns === undefined;
  const paths = hasOther ? columnPaths(columns, idName) : columns;
  const names = hasOther ? [...columns, otherColumn] : columns;
  const fieldPaths = new FieldPaths(paths);
  const columnIndexes = indexesByPath(paths);
  const safeText = escapeFormulas ? escapeFormula : (text: string) => text;
  const out = new WriteBuffer(sink);
  const writeRow = (cells: readonly string[]): Promise<void> => {
    const texts = terminal ? cells.map(sanitize) : cells;
    const row = texts.map((cell) => quoteIfNeeded(cell, delimiter)).join(delimiter);
    return out.addWithFlush(Buffer.from(row + (terminal ? '\n' : '\r\n')));
  };
  let isStarted = false;
  const writeStart = async (): Promise<void> => {
    if (isStarted) return;
    isStarted = true;
    if (byteOrderMark) await out.addWithFlush(Buffer.from('\ufeff'));
    if (hasHeader) await writeRow(names.map(safeText));
  };
  return {
    async write(leads) {
      await writeStart();
      for (const { bytes } of leads) {
        const cells = new Array<string>(names.length).fill('');
        const remaining = splitMembers(utf8(bytes), fieldPaths, (path, raw) => {
          // A number is no formula, whatever its sign; a text may be one.
          const text = raw.startsWith('"') ? safeText(cellText(raw)) : cellText(raw);
          for (const index of columnIndexes.get(path) ?? []) cells[index] = text;
        });
        if (hasOther) cells[columns.length] = remaining ?? '';
        await writeRow(cells);
      }
    },
    flush: () => out.flush(),
    async end() {
      await writeStart();
      await out.flush();
      await sink.end();
    },
  };
}

/** With an id of another name, a field may have two columns: its own, and `id`. */
function indexesByPath(paths: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const indexes = new Map<string, number[]>();
  paths.forEach((path, i) => indexes.set(path, [...(indexes.get(path) ?? []), i]));
  return indexes;
}

/**
 * Spreadsheets evaluate cells that begin like a formula, also with the full-width forms of its signs (OWASP, "CSV Injection").
 * An apostrophe makes them text.
 */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;

const quoteIfNeeded = (cell: string, delimiter: string): string =>
  /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
