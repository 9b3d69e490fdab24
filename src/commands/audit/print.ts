import {
  type Finding,
  type FindingClass,
  openClasses,
  problemClasses,
  unlistedClasses,
} from '../../audit/classify-lead.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Context } from '../../context.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, renderTable, shortTimes } from '../../output/table.ts';
import { type Palette, paletteFor } from '../../output/terminal/colour.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import type { RepairedFindings } from './repair.ts';
import { type AuditSummary, meanings } from './summary.ts';

/** How the findings fit a narrow terminal: ids stay whole. */
const fit: FitOptions = {
  whole: ['CLASS', 'LEAD'],
  narrowing: [{ shorten: 'CREATED' }, { shorten: 'RECEIVED' }, { drop: 'RECEIVED' }, { drop: 'CREATED' }],
  short: shortTimes,
};

interface TableOptions extends Pick<RepairedFindings, 'repaired' | 'arrived'> {
  readonly most: number;
}

/** The counts, then the first `most` findings. */
export async function printTable(
  audit: Pick<Audit, 'findings'>,
  summary: AuditSummary,
  { most, repaired, arrived }: TableOptions,
  context: Pick<Context, 'stdout' | 'messages' | 'env' | 'globals'>,
): Promise<void> {
  const { stdout, messages } = context;
  const colours = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  await write(stdout, countsTable(summary, colours, width));
  const shown: Finding[] = [];
  let more = 0;
  for await (const finding of audit.findings(problemClasses)) {
    if (shown.length < most) shown.push(finding);
    else more += 1;
  }
  if (shown.length === 0) return;
  const heads = ['CLASS', 'LEAD', 'CREATED', 'RECEIVED', 'REMARK'];
  const rows = shown.map((finding) =>
    rowOf(
      finding,
      repaired.has(finding.id) ? 'repaired' : arrived.has(finding.id) ? 'came meanwhile' : undefined,
    ),
  );
  await write(stdout, `\n${renderTable(heads, rows, { ...fit, width, head: colours.dim })}`);
  if (more > 0) messages.say(`${counted(more, 'more finding', 'more findings')}: --limit all, or --json`);
}

function countsTable(summary: AuditSummary, colours: Palette, width: number | undefined): string {
  const { pulled, received, matched, backfilled, richer, byClass, repaired } = summary;
  const fetched = backfilled === 0 ? '' : `, ${grouped(backfilled)} of them only by backfill`;
  const rare: readonly FindingClass[] = ['test', ...openClasses];
  const open = rare.filter((kind) => (byClass[kind] ?? 0) > 0);
  const kinds = [...problemClasses, ...open];
  const rows = [
    ['pulled', grouped(pulled), '', windowText(summary)],
    ['received', grouped(received), '', ''],
    ['matched', grouped(matched), share(matched, pulled), `on both sides${fetched}`],
    ...kinds.map((kind) => {
      const count = byClass[kind];
      const of = unlistedClasses.some((one) => one === kind) ? received : pulled;
      if (count === null) return [kind, '?', '', 'cannot be told'];
      return [kind, grouped(count), share(count, of), meanings[kind]];
    }),
    ...(richer === 0 ? [] : [['richer', grouped(richer), share(richer, pulled), richerText(summary)]]),
    ...(repaired === 0 ? [] : [['repaired', grouped(repaired), '', 'of the refused and missing ones']]),
  ];
  const digits = Math.max(...rows.map(([, count = '']) => count.length), 'LEADS'.length);
  const aligned = rows.map(([name = '', count = '', part = '', text = '']) => [
    name,
    count.padStart(digits),
    part.padStart('SHARE'.length + 1),
    text,
  ]);
  const paint = (text: string, row: number, head: string): string => {
    const kind = kinds[row - 3];
    if (head !== 'LEADS' || kind === undefined || (byClass[kind] ?? 0) === 0) return text;
    if (kind === 'refused' || kind === 'missing') return colours.red(text);
    return open.some((other) => other === kind) ? text : colours.yellow(text);
  };
  return renderTable(['', 'LEADS'.padStart(digits), 'SHARE'.padStart('SHARE'.length + 1), ''], aligned, {
    width,
    head: colours.dim,
    cell: (text, row, head) => paint(text, row, head.trim()),
  });
}

const richerText = ({ richerFields }: AuditSummary): string =>
  `only the list has ${richerFields.slice(0, 3).join(', ')}${richerFields.length > 3 ? ' and others' : ''}`;

function windowText({ window: { since, until } }: AuditSummary): string {
  const from = since === null ? '' : `from ${minutes(since)}`;
  return `created ${[from, `until ${until === null ? 'now' : minutes(until)}`].join(' ').trim()}`;
}

const minutes = (iso: string): string => `${iso.slice(0, 16)}Z`;

/** Two digits behind the point, and never 0% of something or 100% of less than all. */
function share(count: number, of: number): string {
  if (of === 0 || count === 0) return '';
  const percent = (count / of) * 100;
  if (percent > 0 && percent < 0.01) return '<0.01%';
  if (percent < 100 && percent > 99.99) return '>99.9%';
  return `${percent.toFixed(percent === 100 ? 0 : 2)}%`;
}

const rowOf = (
  { class: kind, id, createdAt, receivedAt, fields, reason }: Finding,
  settled: string | undefined,
): string[] => [
  kind,
  id,
  createdAt ?? '',
  receivedAt ?? '',
  [
    ...(fields === null ? [] : [`fields: ${fields.join(', ')}`]),
    ...(reason === null ? [] : [reason]),
    ...(settled === undefined ? [] : [settled]),
  ].join('; '),
];

/** One line for a round of `--watch`: when it ended, the counts, and what was found. */
export function printRound(
  { pulled, received, byClass, withoutId, repaired }: AuditSummary,
  { stdout, clock }: Pick<Context, 'stdout' | 'clock'>,
): Promise<void> {
  const found = problemClasses.flatMap((kind) => {
    const count = byClass[kind] ?? 0;
    return count === 0 ? [] : [`${grouped(count)} ${kind}`];
  });
  const unsettled = byClass.unsettled ?? 0;
  const parts = [
    `${counted(pulled, 'lead', 'leads')} pulled, ${grouped(received)} received: ${found.join(', ') || 'no finding'}`,
    ...(repaired === 0 ? [] : [`${grouped(repaired)} repaired`]),
    ...(withoutId === 0 ? [] : [`${grouped(withoutId)} without an id`]),
    ...(unsettled === 0 ? [] : [`${grouped(unsettled)} too young`]),
  ];
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return write(stdout, `${time}  ${parts.join('; ')}\n`);
}

/** The missing leads, one a line, in the service's own bytes. */
export async function printMissing(
  audit: Pick<Audit, 'unreceived' | 'counts'>,
  { stdout, messages }: Pick<Context, 'stdout' | 'messages'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  for await (const leads of audit.unreceived('missing')) await writer.write(leads);
  await writer.end();
  const { missing, refused } = audit.counts.byClass;
  messages.say(counted(missing ?? 0, 'lead is missing', 'leads are missing'));
  if ((refused ?? 0) > 0) {
    messages.note(
      'refused',
      `${counted(refused ?? 0, 'lead that came and was rejected is', 'leads that came and were rejected are')} not among them`,
    );
  }
}

/** A finding a line, the summary as the last one. */
export async function printJson(
  audit: Pick<Audit, 'findings'>,
  summary: AuditSummary,
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  const print = (line: object): Promise<void> => writer.write([{ bytes: Buffer.from(JSON.stringify(line)) }]);
  for await (const finding of audit.findings()) await print({ type: 'finding', ...finding });
  await print(summary);
  await writer.end();
}
