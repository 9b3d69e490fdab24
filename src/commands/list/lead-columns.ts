import type { Dialect } from '../../config/dialect.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { FieldPaths } from '../../output/records/field-paths.ts';
import { cellText, eachMember } from '../../output/records/json-members.ts';
import { relativeTime } from '../../output/table/relative-time.ts';
import { shortTimes } from '../../output/table/short-times.ts';
import type { FitOptions, NarrowingStep } from '../../output/table/fit-columns.ts';
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
const wholeColumns = ['ID', 'CREATED', 'STATUS'];

/** What a narrow terminal does without, in this order. */
const narrowing: readonly NarrowingStep[] = [
  { drop: 'PHONE' },
  { drop: 'SOURCE' },
  { drop: 'EMAIL' },
  { drop: 'CATEGORY' },
  { shorten: 'CREATED' },
  { drop: 'NAME' },
  { drop: 'STATUS' },
  { drop: 'CREATED' },
];

/**
 * How a table of leads fits a narrow terminal. With `--fields` the last of them go first, ids and times (as `rows` show
 * them) stay whole, and the first field stays in any case.
 */
export function fitting(
  fields: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
): FitOptions {
  if (fields === undefined) return { whole: wholeColumns, narrowing, short: shortTimes };
  const times = fields.filter((_, i) => rows.some((row) => isTime(row[i] ?? '')));
  return {
    whole: [...times, 'id'],
    narrowing: [
      ...times.map((shorten) => ({ shorten })),
      ...fields
        .slice(1)
        .reverse()
        .map((drop) => ({ drop })),
    ],
    short: shortTimes,
  };
}

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
  const asked = new FieldPaths(columns.flatMap((column) => column.paths));
  return leads.map((lead) => {
    const found = new Map<string, string>();
    eachMember(
      utf8(lead.bytes),
      (path, raw) => {
        if (asked.has(path)) found.set(path, raw);
      },
      asked,
    );
    return columns.map(({ paths, isId }) => {
      const path = paths.find((one) => found.has(one));
      if (path === undefined) return isId === true ? (lead.id ?? '') : '';
      return cellOf(cellText(found.get(path) ?? ''), now);
    });
  });
}

function cellOf(text: string, now: number | undefined): string {
  const time = isTime(text) ? readCreatedAt(text) : undefined;
  if (time === undefined) return text;
  return now === undefined ? new Date(time).toISOString().replace(/\.\d+Z$/, 'Z') : relativeTime(time, now);
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);
