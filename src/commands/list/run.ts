import { outliveOutages } from '../flags/polling.ts';
import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { oldestFirst, parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter, type LeadFilter, type LeadMatcher } from '../../lead/filter.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import type { Unproven } from '../../service/pagers/pager.ts';
import { listLeads } from '../../service/listing.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { noteFilters, noteMissingFields, noteReplaced } from '../../output/walk-notes.ts';
import type { ListOptions } from './command.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Dialect } from '../../config/dialect.ts';
import { cellText, FieldPaths, visitMembers } from '../../output/records/json-members.ts';
import type { RecordFormat } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, type NarrowingStep, renderTable } from '../../output/table.ts';
import { paletteFor, terminalWidth } from '../../output/terminal/terminal.ts';
import { formatInstant } from '../../time/zone.ts';

export async function run(options: ListOptions, context: Context): Promise<Outcome> {
  rejectFieldsAsText(options);
  const { limit, watch, format } = options;
  const service = await openService(context, { asksOnce: true });
  const { query, filter: flagged } = resolveFilter(options, context.clock.now(), context.messages);
  const filter = { ...flagged, text: options.text };
  const printer = await leadPrinter(options, context);
  const matcher = leadFilter(filter);
  const fields = new FieldPresence(options.fields ?? []);
  const print = async (leads: readonly RawLead[]): Promise<void> => {
    for (const lead of leads) if (fields.searching) fields.look(parseLead(lead));
    await printer.print(leads);
  };
  // A table is drawn as a whole; with `--watch`, new leads come after the older ones.
  const isHeld = format === 'table' || watch !== undefined;
  const heldLeads: RawLead[] = [];
  let startedAt = context.clock.now();
  const begin = async () => {
    startedAt = context.clock.now();
    const pages = selectLeads(service, { query, filter, matcher, limit });
    return { selection: pages, first: await pages.next() };
  };
  const { selection, first } =
    watch === undefined
      ? await begin()
      : await outliveOutages(begin, { every: watch, hasWorked: false }, context);
  let count = 0;
  let page = first;
  for (; page.done !== true; page = await selection.next()) {
    count += page.value.length;
    if (isHeld) heldLeads.push(...page.value);
    else await print(page.value);
  }
  await print(watch === undefined ? heldLeads : oldestFirst(heldLeads));
  await printer.end?.();
  noteFilters(matcher, context.messages);
  noteMissingFields('--fields', fields, context.messages);
  const remainder = page.value;
  // A list of all leads must be complete; the first leads of a list need no proof.
  if (typeof remainder === 'object' && limit === Infinity && !options.acceptIncomplete) {
    throw new IncompleteError(remainder);
  }
  if (watch === undefined) {
    noteRemainder(remainder, count, context);
    if (count === 0 && format === 'table') context.messages.say('no lead matches');
    return 'done';
  }
  const { watchLeads } = await import('./watch-leads.ts');
  const { acceptIncomplete } = options;
  const previous = { startedAt, ids: new Set(heldLeads.map(({ id }) => id)) };
  await watchLeads({ service, query, matcher, every: watch, print, previous, acceptIncomplete }, context);
  return 'done';
}

function rejectFieldsAsText({ json, text = '' }: ListOptions): void {
  if (!json || !/^[\w.]+(,[\w.]+)+$/.test(text)) return;
  throw new UsageError(`'${text}' looks like fields, and would be looked for as a text`, {
    hint: `fields are named by --fields: --json --fields ${text}`,
  });
}

function noteRemainder(remainder: Remainder, count: number, { messages }: Context): void {
  if (typeof remainder === 'object') {
    messages.note('incomplete', `leads may be missing: ${remainder.reason.message}`);
  }
  if (remainder === 'more') {
    const sentence = count === 1 ? 'this is the first lead' : `these are the first ${count} leads`;
    messages.note('more', `${sentence}; for more: --limit ${count * 5}, or --limit all`);
  }
}

/** Whether leads exist after the limit, or perhaps exist, because the service proves no end. */
type Remainder = 'none' | 'more' | Unproven;

interface Selection {
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  readonly matcher: LeadMatcher;
  readonly limit: number;
}

const largestPage = 1000;

/**
 * Yields the first `limit` leads that match, page by page, and requests no needless page. Where filters are
 * checked here and few records may match, pages are as large as for an export.
 */
async function* selectLeads(
  service: Service,
  { query, filter, matcher, limit }: Selection,
): AsyncGenerator<readonly RawLead[], Remainder, undefined> {
  const { categories, where, text, since, until } = filter;
  const filtersHere =
    categories.length + where.length > 0 || [text, since, until].some((value) => value !== undefined);
  const preferredSize = filtersHere || limit > largestPage ? undefined : limit;
  const ends: Unproven[] = [];
  const pages = listLeads(service, {
    query,
    preferredSize,
    prefetch: limit === Infinity,
    acceptUnproven: (end) => void ends.push(end),
  });
  let remaining = limit;
  for await (const batch of pages) {
    const passing = batch.leads.filter(matcher.matches);
    if (passing.length > remaining) {
      yield passing.slice(0, remaining);
      return 'more';
    }
    remaining -= passing.length;
    yield passing;
    if (remaining === 0 && !batch.last) return 'more';
  }
  const [unproven = 'none'] = ends;
  return remaining === 0 && ends.length > 0 ? 'more' : unproven;
}

interface LeadPrinter {
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
  /** Ends the output; with `--watch`, only flushes it. */
  readonly end?: () => Promise<void>;
}

const rowsAbove = 20;

async function leadPrinter(options: ListOptions, context: Context): Promise<LeadPrinter> {
  const { format } = options;
  return format === 'table' ? tablePrinter(options, context) : recordPrinter(options, format, context);
}

/** Draws a table as a whole, so that its columns fit; with `--watch`, each group of new leads is one. */
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
  let above: string[][] = [];
  return {
    async print(leads) {
      if (leads.length === 0) return;
      const added = rowsOf(leads, columns, zone);
      const rows = [...above, ...added];
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
      await write(stdout, above.length === 0 ? text : lines.slice(-added.length).join(''));
      if (watch !== undefined) above = rows.slice(-rowsAbove);
    },
  };
}

async function recordPrinter(
  { fields, watch }: ListOptions,
  format: RecordFormat,
  context: Context,
): Promise<LeadPrinter> {
  const { stdout, messages } = context;
  const { dialect } = await context.settings();
  const terminal = stdout.isTTY === true;
  const onReplaced = (cells: number): void => noteReplaced(cells, messages);
  const writer = await recordWriter(format, streamSink(stdout), {
    ...{ fields, columns: fields, idName: dialect.id, terminal, onReplaced },
  });
  return {
    async print(leads) {
      await writer.write(leads);
      if (watch !== undefined) await writer.flush();
    },
    end: () => (watch === undefined ? writer.end() : writer.flush()),
  };
}

interface Column {
  readonly head: string;
  readonly paths: readonly string[];
  /** For a lead without this field, the id of the listing is shown. */
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
const wholeColumns = ['ID', 'CREATED', 'STATUS'];

/** A narrow terminal omits these columns, in this order. */
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
 * Returns how a table of leads fits a narrow terminal. With `--fields` the last of them go first, ids and
 * times (as `rows` show them) stay whole, and the first field always stays.
 */
function fitting(fields: readonly string[] | undefined, rows: readonly (readonly string[])[]): FitOptions {
  if (fields === undefined) return { whole: wholeColumns, narrowing };
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
