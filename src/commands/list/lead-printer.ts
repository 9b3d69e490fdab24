import type { Dialect } from '../../config/dialect.ts';
import type { Context } from '../../context.ts';
import { utf8 } from '../../json/bytes.ts';
import { type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { cellText, FieldPaths, visitMembers } from '../../output/records/json-members.ts';
import type { RecordFormat } from '../../output/records/record-types.ts';
import { stdoutWriter } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, type NarrowingStep, renderTable } from '../../output/table.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { formatInstant } from '../../time/zone.ts';
import type { ListOptions } from './command.ts';

export interface LeadPrinter {
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
  /** Ends the output; with `--watch`, only flushes it. */
  readonly end?: () => Promise<void>;
}

/** Prints leads as `--format` says. */
export async function leadPrinter(options: ListOptions, context: Context): Promise<LeadPrinter> {
  const { format } = options;
  return format === 'table' ? tablePrinter(options, context) : recordPrinter(options, format, context);
}

/**
 * Draws a table as a whole, so that its columns fit. With `--watch`, the new leads of each poll are added to it: they are drawn
 * together with the last rows above, so that the columns stay as wide, and of that only the added lines are printed.
 */
async function tablePrinter(
  { fields, watch, zone = 'UTC' }: ListOptions,
  context: Context,
): Promise<LeadPrinter> {
  const { stdout } = context;
  const { dialect } = await context.settings();
  const { dim } = await paletteFor(stdout, context);
  const columns = columnsFor(fields, dialect);
  const noteDropped = (heads: readonly string[]): void => {
    const text = `the terminal is too narrow for ${heads.join(', ')}; --format ndjson shows all`;
    context.messages.note('narrow', text);
  };
  let rowsAbove: string[][] = [];
  return {
    async print(leads) {
      if (leads.length === 0) return;
      const added = rowsOf(leads, columns, zone);
      const rows = [...rowsAbove, ...added];
      const heads = columns.map(({ head }) => head);
      const text = renderTable(heads, rows, {
        ...fitting(fields, rows),
        width: terminalWidth(stdout),
        head: dim,
        // A column that no lead fills is needless, unless --fields names it.
        hidesEmpty: fields === undefined,
        onDrop: noteDropped,
      });
      const lines = text.split(/(?<=\n)/);
      await write(stdout, rowsAbove.length === 0 ? text : lines.slice(-added.length).join(''));
      if (watch !== undefined) rowsAbove = rows.slice(-mostRowsAbove);
    },
  };
}

const mostRowsAbove = 20;

async function recordPrinter(
  { fields, watch }: ListOptions,
  format: RecordFormat,
  context: Context,
): Promise<LeadPrinter> {
  const { stdout } = context;
  const { dialect } = await context.settings();
  const writer = await stdoutWriter(format, stdout, { fields, columns: fields, idName: dialect.id });
  return {
    async print(leads) {
      await writer.write(leads);
      if (watch !== undefined) await writer.flush();
    },
    end: () => (watch === undefined ? writer.end() : writer.flush()),
  };
}

/** A cell shows the first of the `paths` that a lead has. `isId`: a lead without any has the id that the listing found. */
interface Column {
  readonly head: string;
  readonly paths: readonly string[];
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

/** People search for these, or copy them, as a whole. */
const cutLast = ['ID', 'CREATED', 'STATUS'];

const dropping = (drop: string): NarrowingStep => ({ drop });

/** A narrow terminal omits these columns, in this order. */
const narrowing: readonly NarrowingStep[] = [
  ...['PHONE', 'SOURCE', 'EMAIL', 'CATEGORY'].map(dropping),
  { shorten: 'CREATED' },
  ...['NAME', 'STATUS', 'CREATED'].map(dropping),
];

/**
 * Returns how a table of leads fits a narrow terminal. With `--fields`, times are shortened first, then the last field is omitted
 * first, and the first one never; ids and times, which are recognized in `rows`, are cut last.
 */
function fitting(fields: readonly string[] | undefined, rows: readonly (readonly string[])[]): FitOptions {
  if (fields === undefined) return { cutLast, narrowing };
  const times = fields.filter((_, i) => rows.some((row) => isTime(row[i] ?? '')));
  const droppable = fields.slice(1).reverse();
  return {
    cutLast: [...times, 'id'],
    narrowing: [...times.map((shorten) => ({ shorten })), ...droppable.map(dropping)],
  };
}

function columnsFor(fields: readonly string[] | undefined, { id = 'id', statusField }: Dialect): Column[] {
  if (fields !== undefined) return fields.map((path) => ({ head: path, paths: [path] }));
  const paths = statusField === undefined || statusField === 'auto' ? statusFields : [statusField];
  return [{ head: 'ID', paths: [id], isId: true }, ...standardColumns, { head: 'STATUS', paths }];
}

function rowsOf(leads: readonly RawLead[], columns: readonly Column[], zone: string): string[][] {
  const fieldPaths = new FieldPaths(columns.flatMap((column) => column.paths));
  return leads.map((lead) => {
    const texts = new Map<string, string>();
    visitMembers(utf8(lead.bytes), fieldPaths, (path, raw) => texts.set(path, raw));
    return columns.map(({ paths, isId }) => {
      const path = paths.find((name) => texts.has(name));
      if (path === undefined) return isId === true ? (lead.id ?? '') : '';
      return cellOf(path, cellText(texts.get(path) ?? ''), zone);
    });
  });
}

function cellOf(path: string, text: string, zone: string): string {
  const time = path === 'createdAt' || isTime(text) ? readCreatedAt(text) : undefined;
  return time === undefined ? text : formatInstant(time, zone);
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);
