import { writeXlsxStream } from 'hucre/xlsx';
import { utf8 } from '../../json/bytes.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { parseIsoTime } from '../../time/time-text.ts';
import { offsetAt } from '../../time/zone.ts';
import { Columns } from './csv.ts';
import { cellText, eachMember, FieldPaths, holdsHalf } from './json-members.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';
import { TemporaryRecords } from './temporary-records.ts';

/** A cell holds no more UTF-16 units (Excel, "specifications and limits"). */
const longestCell = 32_767;
/** What Excel calls March 1, 1900: before it, its calendar has a day too many. The last one is of the year 9999. */
const [firstDate, lastDate] = [Date.UTC(1900, 2), Date.UTC(10_000, 0)];
/** Numbers of more digits would be rounded. */
const mostDigits = 15;
const dateFormat = 'yyyy-mm-dd hh:mm:ss';
const [narrowest, widest] = [8, 60];

/** What one column of the sheet holds, as far as it was seen. */
interface SeenColumn {
  width: number;
  times: number;
  others: number;
}

/**
 * A workbook with a sheet of all records, and further ones where they have more rows than a sheet can. What columns hold is
 * known at the end only, so the records wait in a temporary file until then.
 */
export function xlsxWriter(sink: ByteSink, options: WriterOptions): RecordWriter {
  const { fields, zone = 'UTC', onCut, onReplaced } = options;
  const union = new Columns();
  const spool = new TemporaryRecords();
  const seen = new Map<string, SeenColumn>();
  const asked = fields === undefined ? undefined : new FieldPaths(fields);
  const look = (path: string, raw: string): void => {
    let column = seen.get(path);
    if (column === undefined) seen.set(path, (column = { width: 0, times: 0, others: 0 }));
    if (raw === 'null') return;
    if (timeOf(path, raw) === undefined) column.others += 1;
    else column.times += 1;
    column.width = Math.max(column.width, Math.min(widest, raw.length - (raw.startsWith('"') ? 2 : 0)));
  };
  /** The times of a lead are of one kind; of another field, a text that looks like a time may be a text. */
  const holdsTimes = (path: string): boolean => {
    const { times = 0, others = 0 } = seen.get(path) ?? {};
    return times > 0 && (path === 'createdAt' || others === 0);
  };
  let [cut, replaced] = [0, 0];
  const fitting = (text: string): string => {
    // Excel reads `_x0041_` as a character, and XML can hold neither of the two last ones.
    const escaped = text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\ufffe\uffff]/g, '\ufffd');
    if (holdsHalf(text) || /[\ufffe\uffff]/.test(text)) replaced += 1;
    if (text.length <= longestCell) return escaped;
    cut += 1;
    return escaped.slice(0, longestCell).replace(/[\ud800-\udbff]$/, '');
  };
  const valueOf = (path: string, raw: string, isTime: boolean): string | number | boolean | Date | null => {
    if (raw === 'null') return null;
    const time = isTime ? timeOf(path, raw) : undefined;
    if (time !== undefined) {
      const shown = time + offsetAt(time, zone);
      if (shown >= firstDate && shown < lastDate) return new Date(shown);
    }
    if (raw === 'true' || raw === 'false') return raw === 'true';
    return isExactNumber(raw) ? Number(raw) : fitting(cellText(raw));
  };
  async function* rows(paths: readonly string[]) {
    const wanted = new FieldPaths(paths);
    const columns = paths.map((path) => ({ path, isTime: holdsTimes(path) }));
    for await (const records of spool.records()) {
      for (const { bytes } of records) {
        const found = new Map<string, string>();
        eachMember(utf8(bytes), (path, raw) => found.set(path, raw), wanted);
        yield columns.map(({ path, isTime }) => valueOf(path, found.get(path) ?? 'null', isTime));
      }
    }
  }
  return {
    async write(leads) {
      for (const { bytes } of leads) {
        if (fields === undefined) union.learn(bytes);
        eachMember(utf8(bytes), look, asked);
      }
      await spool.write(leads);
    },
    flush: () => Promise.resolve(),
    async end() {
      try {
        const paths = fields ?? union.paths;
        const columns = paths.map((path) => {
          const isTime = holdsTimes(path);
          const header = fitting(isTime ? `${path} (${zone})` : path);
          const content = isTime ? dateFormat.length : (seen.get(path)?.width ?? 0);
          const width = Math.min(widest, Math.max(narrowest, header.length, content)) + 2;
          return { header, width, ...(isTime && { numFmt: dateFormat }) };
        });
        const sheet = { name: 'Leads', columns, freezePane: { rows: 1 } };
        for await (const bytes of writeXlsxStream(rows(paths), sheet)) await sink.write(bytes);
        await sink.end();
      } finally {
        await spool.close();
      }
      if (cut > 0) onCut?.(cut);
      if (replaced > 0) onReplaced?.(replaced);
    },
  };
}

/** Of a member's JSON text; a creation time has more forms than one. */
function timeOf(path: string, raw: string): number | undefined {
  if (path === 'createdAt') return readCreatedAt(raw.startsWith('"') ? cellText(raw) : Number(raw));
  return /^"\d{4}-\d\d-\d\dT/.test(raw) ? parseIsoTime(cellText(raw)) : undefined;
}

/** Whether a spreadsheet shows a number as it was sent. */
const isExactNumber = (raw: string): boolean =>
  /^-?\d/.test(raw) &&
  raw
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '').length <= mostDigits &&
  Number.isFinite(Number(raw));
