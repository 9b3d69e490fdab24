import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { writeXlsxStream } from 'hucre/xlsx';
import { utf8 } from '../../json/bytes.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { offsetAt } from '../../time/zone.ts';
import { columnFields, leadColumns, otherColumn } from './csv.ts';
import { cellText, FieldPaths, splitMembers } from './json-members.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';

/** The limit of a cell in UTF-16 units (Excel, "specifications and limits"). */
const longestCell = 32_767;
/** Before March 1, 1900 the calendar of Excel has a day too many; it ends with the year 9999. */
const [firstDate, lastDate] = [Date.UTC(1900, 2), Date.UTC(10_000, 0)];
/** Excel rounds numbers of more digits. */
const mostDigits = 15;
const dateFormat = 'yyyy-mm-dd hh:mm:ss';
const timeColumn = 'createdAt';
const width = 24;

type Cell = string | number | boolean | Date | null;

/** Writes a workbook with a sheet of all records, and further sheets where one cannot hold all rows. */
export function xlsxWriter(sink: ByteSink, options: WriterOptions): RecordWriter {
  const { fields, idName, zone = 'UTC', onCut } = options;
  const names = leadColumns(fields);
  const paths = columnFields(names, idName);
  const fieldPaths = new FieldPaths(paths);
  let cut = 0;
  const fitting = (text: string): string => {
    // Excel reads `_x0041_` as a character, and XML can hold neither U+FFFE nor U+FFFF.
    const escaped = text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\ufffe\uffff]/g, '\ufffd');
    if (text.length <= longestCell) return escaped;
    cut += 1;
    return escaped.slice(0, longestCell).replace(/[\ud800-\udbff]$/, '');
  };
  const cellOf = (path: string, raw: string | undefined): Cell => {
    if (raw === undefined || raw === 'null') return null;
    const time =
      path === timeColumn ? readCreatedAt(raw.startsWith('"') ? cellText(raw) : Number(raw)) : undefined;
    if (time !== undefined) {
      const localTime = time + offsetAt(time, zone);
      if (localTime >= firstDate && localTime < lastDate) return new Date(localTime);
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
  // The next row, or `end`, reports a failure.
  written.catch(() => undefined);
  return {
    async write(leads) {
      for (const { bytes } of leads) {
        const values = new Map<string, string>();
        const remaining = splitMembers(utf8(bytes), fieldPaths, (path, raw) => values.set(path, raw));
        const row: Cell[] = paths.map((path) => cellOf(path, values.get(path)));
        const hasRoom = rows.write([...row, remaining === undefined ? null : fitting(remaining)]);
        if (!hasRoom) await Promise.race([once(rows, 'drain'), written]);
      }
    },
    flush: () => Promise.resolve(),
    async end() {
      rows.end();
      await written;
      await sink.end();
      if (cut > 0) onCut?.(cut);
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

const isExactNumber = (raw: string): boolean =>
  /^-?\d/.test(raw) &&
  raw
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '').length <= mostDigits &&
  Number.isFinite(Number(raw));
