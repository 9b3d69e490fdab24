import type { Context } from '../../context.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { RecordFormat } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { renderTable } from '../../output/table/table.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import { write } from '../../output/write-stream.ts';
import { columnsFor, fitting, rowsOf } from './lead-columns.ts';
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
  { fields, relative, watch }: ListOptions,
  context: Context,
): Promise<LeadPrinter> {
  const { stdout, clock } = context;
  const { dialect } = await context.settings();
  const { dim } = await paletteFor(stdout, context);
  const columns = columnsFor(fields, dialect);
  const noteDropped = (heads: readonly string[]): void => {
    if (fields === undefined) return;
    const text = `the terminal is too narrow for ${heads.join(', ')}; --format ndjson shows all`;
    context.messages.note('narrow', text);
  };
  let waiting: RawLead[] | undefined = [];
  let above: string[][] = [];
  const draw = async (leads: readonly RawLead[]): Promise<void> => {
    if (leads.length === 0) return;
    const added = rowsOf(leads, columns, relative ? clock.now() : undefined);
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
