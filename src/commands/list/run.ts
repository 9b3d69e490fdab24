import type { Context } from '../../context.ts';
import { leadFilter } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { paletteFor } from '../../output/colour.ts';
import { type RecordFormat, recordWriter, streamSink } from '../../output/records.ts';
import { write } from '../../output/sink.ts';
import { maybeMissing, noteUnreadableTimes } from '../../output/summary.ts';
import { renderTable } from '../../output/table.ts';
import { terminalWidth } from '../../output/terminal.ts';
import { openService } from '../../service/client/service.ts';
import { resolveFilter } from '../filter-options.ts';
import type { Outcome } from '../command-spec.ts';
import { columnsFor, optional, rowsOf, whole } from './columns.ts';
import { type ListOptions, options, refuseContradictions } from './options.ts';
import { type Rest, selectLeads } from './select.ts';

export { options };

const usualLimit = 20;

export async function run(given: ListOptions, context: Context): Promise<Outcome> {
  refuseContradictions(given);
  const service = await openService(context);
  const { query, filter } = resolveFilter(given, context.clock.now());
  const printer = await printerFor(given, context);
  const matcher = leadFilter(filter);
  const selected = selectLeads(service, query, filter, matcher, given.limit ?? usualLimit);
  let shown = 0;
  for (;;) {
    const part = await selected.next();
    if (part.done === true) {
      await printer.end();
      noteUnreadableTimes(matcher.unreadableTimes, context.messages);
      if (given.watch === undefined) sayRest(part.value, shown, context);
      break;
    }
    shown += part.value.length;
    await printer.print(part.value);
  }
  if (given.watch === undefined) {
    if (shown === 0 && given.format === 'table') context.messages.say('no lead matches');
    return 'done';
  }
  const { watch } = await import('./watch.ts');
  await watch({ service, query, matcher, every: given.watch, print: printer.print }, context);
  return 'done';
}

function sayRest(rest: Rest, shown: number, { messages }: Context): void {
  if (rest === 'maybe-missing') messages.note('missing', maybeMissing);
  if (rest === 'more')
    messages.note(
      'more',
      `${shown === 1 ? 'this is the first lead' : `these are the first ${shown} leads`}; for more: --limit ${shown * 5}, or --limit all`,
    );
}

interface Printer {
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
  readonly end: () => Promise<void>;
}

async function printerFor(given: ListOptions, context: Context): Promise<Printer> {
  const { format } = given;
  return format === 'table' ? tablePrinter(given, context) : recordPrinter(given, format, context);
}

/** A table is drawn as a whole, so that its columns fit; while watching, each group of new leads is one. */
async function tablePrinter(given: ListOptions, context: Context): Promise<Printer> {
  const { stdout, clock } = context;
  const { dialect } = await context.settings();
  const { dim } = await paletteFor(stdout, context);
  const all = columnsFor(given.fields, dialect);
  let held: RawLead[] | undefined = [];
  /** The rows above new ones, which keep the columns where they were. */
  let above: string[][] = [];
  const draw = async (leads: readonly RawLead[]): Promise<void> => {
    if (leads.length === 0) return;
    const added = rowsOf(leads, all, given.relative ? clock.now() : undefined);
    const rows = [...above, ...added];
    // A column that no lead fills says nothing, unless somebody asked for it.
    const kept = all.map((_, i) => given.fields !== undefined || rows.some((row) => row[i] !== ''));
    const heads = all.filter((_, i) => kept[i]).map((column) => column.head);
    const width = terminalWidth(stdout);
    const cells = rows.map((row) => row.filter((_, i) => kept[i]));
    const fitting = given.fields === undefined ? { whole, optional } : {};
    const text = renderTable(heads, cells, { width, head: dim, ...fitting });
    const lines = text.split(/(?<=\n)/);
    await write(stdout, above.length === 0 ? text : lines.slice(-added.length).join(''));
    if (given.watch !== undefined) above = rows.slice(-20);
  };
  return {
    async print(leads) {
      if (held === undefined) await draw(leads);
      else held.push(...leads);
    },
    async end() {
      await draw(held ?? []);
      held = undefined;
    },
  };
}

async function recordPrinter(
  { fields, watch }: ListOptions,
  format: RecordFormat,
  { stdout }: Context,
): Promise<Printer> {
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
