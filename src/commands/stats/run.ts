import type { Context } from '../../context.ts';
import { escapeJson } from '../../output/sanitize.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/write-stream.ts';
import { checkExpectations } from '../../stats/check-expectations.ts';
import { mostValues } from '../../stats/value-counts.ts';
import { grouped } from '../../output/terminal/progress.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { countPulled } from './count-pulled.ts';
import type { CountedWindows } from './counted-windows.ts';
import { countsReceived, rejectContradictions, type StatsOptions } from './options.ts';
import { planStats } from './stats-plan.ts';
import { sayChecked } from './print/say-checked.ts';

export async function run(options: StatsOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { clock, messages } = context;
  const { dialect } = await context.settings();
  const plan = planStats(options, dialect, clock.now(), messages);
  const counted = await countWindows(options, plan, context);
  const { leads, receipts } = counted.current;
  const checked = options.expect && checkExpectations(options.expect, leads.total, receipts);
  noteBounds(counted, context);
  await print(options, counted, checked, context);
  sayChecked(checked ?? [], messages);
  return checked?.every(({ holds }) => holds) === false ? 'problems' : 'done';
}

const countWindows = async (
  options: StatsOptions,
  plan: ReturnType<typeof planStats>,
  context: Context,
): Promise<CountedWindows> => {
  if (!countsReceived(options)) return countPulled(options, plan, context);
  const { countReceived } = await import('./count-received.ts');
  return countReceived(options, plan, context);
};

async function print(
  options: StatsOptions,
  counted: CountedWindows,
  checked: ReturnType<typeof checkExpectations> | undefined,
  context: Context,
): Promise<void> {
  const { stdout } = context;
  const terminal = stdout.isTTY === true;
  const { format, top } = options;
  if (format === 'table') {
    const { printTable } = await import('./print/stats-table.ts');
    await printTable(counted, top ?? 10, context);
  } else if (format === 'json') {
    const { statsDocument } = await import('./print/stats-document.ts');
    const json = JSON.stringify(statsDocument(counted, checked, top ?? Infinity), null, 2);
    await write(stdout, `${terminal ? escapeJson(json) : json}\n`);
  } else {
    const { figureColumns, statsRows } = await import('./print/stats-rows.ts');
    const fields = counted.previous === undefined ? figureColumns.slice(0, -1) : figureColumns;
    const writer = await recordWriter('csv', streamSink(stdout), { fields, terminal });
    const rows = statsRows(counted, top ?? Infinity);
    await writer.write(rows.map((row) => ({ bytes: Buffer.from(JSON.stringify(row)) })));
    await writer.end();
  }
}

/** Says where memory was bounded at the cost of detail. */
function noteBounds({ current, previous }: CountedWindows, { messages }: Pick<Context, 'messages'>): void {
  const windows = [current, ...(previous === undefined ? [] : [previous])];
  for (const key of new Set(windows.flatMap(({ leads }) => leads.fullFacets))) {
    messages.note(
      `full ${key}`,
      `'${key}' has too many different values to count each: those that came after the first ` +
        `${grouped(mostValues)}, or 16 MiB, are counted as (other)`,
    );
  }
  if (windows.some(({ leads }) => leads.matrix?.isFull === true)) {
    messages.note(
      'full-matrix',
      'the matrix has too many different pairs to count each: later ones are (other)',
    );
  }
  if (windows.some(({ leads }) => leads.buckets.isLengthened)) {
    messages.note(
      'longer-buckets',
      `the leads are spread over too long a time: they are counted by the ${current.series.unit}`,
    );
  }
  if (current.receipts === undefined && current.leads.undated > 0) {
    const { undated } = current.leads;
    const what = undated === 1 ? '1 lead has' : `${grouped(undated)} leads have`;
    messages.note(
      'unreadable-time',
      `${what} no createdAt that can be read: counted, but in no ${current.series.unit}`,
    );
  }
}
