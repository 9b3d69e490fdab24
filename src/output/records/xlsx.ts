import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { writeXlsxStream } from 'hucre/xlsx';
import { utf8 } from '../../json/bytes.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { offsetAt } from '../../time/zone.ts';
import { columnPaths, leadColumns, otherColumn } from './csv.ts';
import { cellText, FieldPaths, splitMembers } from './json-members.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';

/** The limit of a cell in UTF-16 units (Excel, "specifications and limits"). */
const longestCell = 32_767;
/** Excel takes 1900 for a leap year, so earlier days are off by one; its calendar ends with the year 9999. */
const [firstDate, endOfDates] = [Date.UTC(1900, 2), Date.UTC(10_000, 0)];
/** Excel rounds numbers of more digits, so those become text. */
const mostDigits = 15;
const dateFormat = 'yyyy-mm-dd hh:mm:ss';
const timeColumn = 'createdAt';
const columnWidth = 24;

type Cell = string | number | boolean | Date | null;

/** Writes a workbook with a sheet of all records, and further sheets where one cannot hold all rows. */
export function xlsxWriter(sink: ByteSink, options: WriterOptions): RecordWriter {
  const { fields, idName, zone = 'UTC', onCut } = options;
  const names = leadColumns(fields);
  const paths = columnPaths(names, idName);
  const fieldPaths = new FieldPaths(paths);
  let cutCells = 0;
  const excelText = (text: string): string => {
    // Excel reads `_x0041_` as the character A, and XML can hold neither U+FFFE nor U+FFFF.
    const escaped = text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\ufffe\uffff]/g, '\ufffd');
    if (text.length <= longestCell) return escaped;
    cutCells += 1;
    const halfCharacter = /[\ud800-\udbff]$/;
    return escaped.slice(0, longestCell).replace(halfCharacter, '');
  };
  const cellOf = (path: string, raw: string | undefined): Cell => {
    if (raw === undefined || raw === 'null') return null;
    const date = path === timeColumn ? localDate(raw, zone) : undefined;
    if (date !== undefined) return date;
    if (raw === 'true' || raw === 'false') return raw === 'true';
    return isExactNumber(raw) ? Number(raw) : excelText(cellText(raw));
  };
  const columns = [...names, otherColumn].map((name) =>
    name === timeColumn
      ? { header: `${name} (${zone})`, width: columnWidth, numFmt: dateFormat }
      : { header: excelText(name), width: columnWidth },
  );
  const rows = new PassThrough({ objectMode: true });
  const workbook = writeRows(rows, { name: 'Leads', columns, freezePane: { rows: 1 } }, sink);
  // The next row, or `end`, reports a failure.
  workbook.catch(() => undefined);
  return {
    async write(leads) {
      for (const { bytes } of leads) {
        const values = new Map<string, string>();
        const remaining = splitMembers(utf8(bytes), fieldPaths, (path, raw) => values.set(path, raw));
        const row: Cell[] = paths.map((path) => cellOf(path, values.get(path)));
        const hasRoom = rows.write([...row, remaining === undefined ? null : excelText(remaining)]);
        if (!hasRoom) await Promise.race([once(rows, 'drain'), workbook]);
      }
    },
    flush: () => Promise.resolve(),
    async end() {
      rows.end();
      await workbook;
      await sink.end();
      if (cutCells > 0) onCut?.(cutCells);
    },
  };
}

/** The time of a field as a date of the workbook, which has no zone; undefined for any other value. */
function localDate(raw: string, zone: string): Date | undefined {
  const time = readCreatedAt(raw.startsWith('"') ? cellText(raw) : Number(raw));
  if (time === undefined) return undefined;
  const localTime = time + offsetAt(time, zone);
  return localTime >= firstDate && localTime < endOfDates ? new Date(localTime) : undefined;
}

async function writeRows(
  rows: AsyncIterable<Cell[]>,
  sheet: Parameters<typeof writeXlsxStream>[1],
  sink: ByteSink,
): Promise<void> {
  for await (const bytes of writeXlsxStream(rows, sheet)) await sink.write(bytes);
}

/** Whether Excel keeps each digit of a JSON number. */
function isExactNumber(raw: string): boolean {
  if (!/^-?\d/.test(raw)) return false;
  const [mantissa = ''] = raw.split(/[eE]/);
  const digits = mantissa.replace(/\D/g, '').replace(/^0+/, '');
  return digits.length <= mostDigits && Number.isFinite(Number(raw));
}
