import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { writeXlsxStream } from 'hucre/xlsx';
import { utf8 } from '../../json/bytes.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { offsetAt } from '../../time/zone.ts';
import { columnFields, leadColumns, otherColumn } from './csv.ts';
import { cellText, FieldPaths, holdsHalf, splitMembers } from './json-members.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';

/** A cell holds no more UTF-16 units (Excel, "specifications and limits"). */
const longestCell = 32_767;
/** What Excel calls March 1, 1900: before it, its calendar has a day too many. The last one is of the year 9999. */
const [firstDate, lastDate] = [Date.UTC(1900, 2), Date.UTC(10_000, 0)];
/** Numbers of more digits would be rounded. */
const mostDigits = 15;
const dateFormat = 'yyyy-mm-dd hh:mm:ss';
const timeColumn = 'createdAt';
/** In characters. */
const width = 24;

type Cell = string | number | boolean | Date | null;

/** A workbook with a sheet of all records, and further ones where they have more rows than a sheet can. */
export function xlsxWriter(sink: ByteSink, options: WriterOptions): RecordWriter {
  const { fields, idName, zone = 'UTC', onCut, onReplaced } = options;
  const names = leadColumns(fields);
  const paths = columnFields(names, idName);
  const asked = new FieldPaths(paths);
  let [cut, replaced] = [0, 0];
  const fitting = (text: string): string => {
    // Excel reads `_x0041_` as a character, and XML can hold neither of the two last ones.
    const escaped = text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\ufffe\uffff]/g, '\ufffd');
    if (holdsHalf(text) || /[\ufffe\uffff]/.test(text)) replaced += 1;
    if (text.length <= longestCell) return escaped;
    cut += 1;
    return escaped.slice(0, longestCell).replace(/[\ud800-\udbff]$/, '');
  };
  const cellOf = (path: string, raw: string | undefined): Cell => {
    if (raw === undefined || raw === 'null') return null;
    const time =
      path === timeColumn ? readCreatedAt(raw.startsWith('"') ? cellText(raw) : Number(raw)) : undefined;
    if (time !== undefined) {
      const shown = time + offsetAt(time, zone);
      if (shown >= firstDate && shown < lastDate) return new Date(shown);
    }
    if (raw === 'true' || raw === 'false') return raw === 'true';
    return isExactNumber(raw) ? Number(raw) : fitting(cellText(raw));
  };
  const columns = [...names, otherColumn].map((name) =>
    name === timeColumn
      ? { header: `${name} (${zone})`, width, numFmt: dateFormat }
      : { header: fitting(name), width },
  );
  const rows = new PassThrough({ objectMode: true });
  const written = writeRows(rows, { name: 'Leads', columns, freezePane: { rows: 1 } }, sink);
  // A failure is met by the next row, or at the end.
  written.catch(() => undefined);
  return {
    async write(leads) {
      for (const { bytes } of leads) {
        const found = new Map<string, string>();
        const other = splitMembers(utf8(bytes), asked, (path, raw) => found.set(path, raw));
        const row: Cell[] = paths.map((path) => cellOf(path, found.get(path)));
        const hasRoom = rows.write([...row, other === undefined ? null : fitting(other)]);
        if (!hasRoom) await Promise.race([once(rows, 'drain'), written]);
      }
    },
    flush: () => Promise.resolve(),
    async end() {
      rows.end();
      await written;
      await sink.end();
      if (cut > 0) onCut?.(cut);
      if (replaced > 0) onReplaced?.(replaced);
    },
  };
}

async function writeRows(
  rows: AsyncIterable<Cell[]>,
  sheet: Parameters<typeof writeXlsxStream>[1],
  sink: ByteSink,
): Promise<void> {
  for await (const bytes of writeXlsxStream(rows, sheet)) await sink.write(bytes);
}

/** Whether a spreadsheet shows a number as it was sent. */
const isExactNumber = (raw: string): boolean =>
  /^-?\d/.test(raw) &&
  raw
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '').length <= mostDigits &&
  Number.isFinite(Number(raw));
