import type { Dialect } from '../../config/dialect.ts';
import type { Context } from '../../context.ts';
import { utf8 } from '../../json/bytes.ts';
import { type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { cellText, eachMember, FieldPaths } from '../../output/records/json-members.ts';
import type { RecordFormat } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import {
  type FitOptions,
  type NarrowingStep,
  relativeTime,
  renderTable,
  shortTimes,
} from '../../output/table.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import { formatInstant } from '../../time/zone.ts';
import type { ListOptions } from './options.ts';

interface LeadPrinter {
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
  /** Completes the form; with `--watch`, prints what is there so far. */
  readonly end: () => Promise<void>;
}

/** Rows above new ones that keep their columns in place. */
const rowsAbove = 20;

export async function leadPrinter(options: ListOptions, context: Context): Promise<LeadPrinter> {
  const { format } = options;
  return format === 'table' ? tablePrinter(options, context) : recordPrinter(options, format, context);
}

/** A table is drawn as a whole, so that its columns fit; while watching, each group of new leads is one. */
async function tablePrinter(
  { fields, relative, watch, zone = 'UTC' }: ListOptions,
  context: Context,
): Promise<LeadPrinter> {
  const { stdout, clock } = context;
  const { dialect } = await context.settings();
  const { dim } = await paletteFor(stdout, context);
  const columns = columnsFor(fields, dialect);
  const noteDropped = (heads: readonly string[]): void => {
    const text = `the terminal is too narrow for ${heads.join(', ')}; --format ndjson shows all`;
    context.messages.note('narrow', text);
  };
  let waiting: RawLead[] | undefined = [];
  let above: string[][] = [];
  const draw = async (leads: readonly RawLead[]): Promise<void> => {
    if (leads.length === 0) return;
    const now = clock.now();
    const shown = (time: number): string => (relative ? relativeTime(time, now) : formatInstant(time, zone));
    const added = rowsOf(leads, columns, shown);
    const rows = [...above, ...added];
    // A column that no lead fills says nothing, unless --fields names it.
    const isShown = columns.map((_, i) => fields !== undefined || rows.some((row) => row[i] !== ''));
    const heads = columns.filter((_, i) => isShown[i]).map((column) => column.head);
    const cells = rows.map((row) => row.filter((_, i) => isShown[i]));
    const text = renderTable(heads, cells, {
      ...fitting(fields, cells),
      width: terminalWidth(stdout),
      head: dim,
      onDrop: noteDropped,
    });
    const lines = text.split(/(?<=\n)/);
    await write(stdout, above.length === 0 ? text : lines.slice(-added.length).join(''));
    if (watch !== undefined) above = rows.slice(-rowsAbove);
  };
  return {
    async print(leads) {
      if (waiting === undefined) await draw(leads);
      else waiting.push(...leads);
    },
    async end() {
      await draw(waiting ?? []);
      waiting = undefined;
    },
  };
}

async function recordPrinter(
  { fields, watch }: ListOptions,
  format: RecordFormat,
  { stdout }: Context,
): Promise<LeadPrinter> {
  const terminal = stdout.isTTY === true;
  const writer = await recordWriter(format, streamSink(stdout), { fields, terminal });
  return {
    async print(leads) {
      await writer.write(leads);
      if (watch !== undefined) await writer.flush();
    },
    end: () => (watch === undefined ? writer.end() : writer.flush()),
  };
}

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
function fitting(fields: readonly string[] | undefined, rows: readonly (readonly string[])[]): FitOptions {
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

function columnsFor(fields: readonly string[] | undefined, { id = 'id', statusField }: Dialect): Column[] {
  if (fields !== undefined) return fields.map((path) => ({ head: path, paths: [path] }));
  const named = statusField === undefined || statusField === 'auto' ? statusFields : [statusField];
  return [{ head: 'ID', paths: [id], isId: true }, ...standardColumns, { head: 'STATUS', paths: named }];
}

type TimeText = (time: number) => string;

/** The cells of leads. */
function rowsOf(leads: readonly RawLead[], columns: readonly Column[], timeText: TimeText): string[][] {
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
      return cellOf(path, cellText(found.get(path) ?? ''), timeText);
    });
  });
}

function cellOf(path: string, text: string, timeText: TimeText): string {
  const time = path === 'createdAt' || isTime(text) ? readCreatedAt(text) : undefined;
  return time === undefined ? text : timeText(time);
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);
