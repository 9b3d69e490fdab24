import type { Dialect } from '../../config/dialect.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { cellText, eachMember } from '../../output/records/json-members.ts';
import { relativeTime } from '../../output/table/relative-time.ts';
import { utf8 } from '../../json/bytes.ts';

/** One column of the table: its head, and the dot paths of which the first that is there is shown. */
interface Column {
  readonly head: string;
  readonly paths: readonly string[];
  /** The id that the walk knows is shown where the lead itself holds none. */
  readonly isId?: true;
}

/** The delivery status has no name in the specification (section 2, gaps). */
const statusFields = ['status', 'deliveryStatus', 'delivery_status'];

const standardColumns: readonly Column[] = [
  { head: 'CREATED', paths: ['createdAt'] },
  { head: 'CATEGORY', paths: ['category'] },
  { head: 'NAME', paths: ['contact.name'] },
  { head: 'EMAIL', paths: ['contact.email'] },
  { head: 'PHONE', paths: ['contact.phone'] },
  { head: 'SOURCE', paths: ['metadata.source'] },
];

/** Columns that are searched for, or copied, as a whole. */
export const uncutColumns = ['ID', 'CREATED', 'STATUS'];

/** Left out on a narrow terminal. */
export const optionalColumns = ['PHONE', 'SOURCE'];

export function columnsFor(
  fields: readonly string[] | undefined,
  { id = 'id', statusField }: Dialect,
): Column[] {
  if (fields !== undefined) return fields.map((path) => ({ head: path, paths: [path] }));
  const named = statusField === undefined || statusField === 'auto' ? statusFields : [statusField];
  return [{ head: 'ID', paths: [id], isId: true }, ...standardColumns, { head: 'STATUS', paths: named }];
}

/** The cells of leads. Times are in UTC to the second, or as their distance from `now` (ms) when that is defined. */
export function rowsOf(
  leads: readonly RawLead[],
  columns: readonly Column[],
  now: number | undefined,
): string[][] {
  const wanted = new Set(columns.flatMap((column) => column.paths));
  return leads.map((lead) => {
    const found = new Map<string, string>();
    eachMember(
      utf8(lead.bytes),
      (path, raw) => {
        if (wanted.has(path)) found.set(path, raw);
      },
      (path) => wanted.has(path),
    );
    return columns.map(({ paths, isId }) => {
      const path = paths.find((one) => found.has(one));
      if (path === undefined) return isId === true ? (lead.id ?? '') : '';
      return cellOf(cellText(found.get(path) ?? ''), now);
    });
  });
}

function cellOf(text: string, now: number | undefined): string {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? readCreatedAt(text) : undefined;
  if (time === undefined) return text;
  return now === undefined ? new Date(time).toISOString().replace(/\.\d+Z$/, 'Z') : relativeTime(time, now);
}
