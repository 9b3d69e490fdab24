import type { Audit } from '../../../audit/audit.ts';
import { type Finding, openClasses, problemClasses } from '../../../audit/audit-finding.ts';
import type { Context } from '../../../context.ts';
import type { FitOptions } from '../../../output/table/fit-columns.ts';
import { shortTimes } from '../../../output/table/short-times.ts';
import { renderTable } from '../../../output/table/table.ts';
import { type Palette, paletteFor } from '../../../output/terminal/colour.ts';
import { counted, grouped } from '../../../output/terminal/progress.ts';
import { terminalWidth } from '../../../output/terminal/terminal-width.ts';
import { write } from '../../../output/write-stream.ts';
import type { AuditSummary } from '../summary.ts';
import type { RepairedFindings } from '../repair/repair-findings.ts';
import { meanings } from './meanings.ts';

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
  const { pulled, received, matched, backfilled, byClass, repaired } = summary;
  const fetched = backfilled === 0 ? '' : `, ${grouped(backfilled)} of them only by backfill`;
  const open = openClasses.filter((kind) => (byClass[kind] ?? 0) > 0);
  const kinds = [...problemClasses, ...open];
  const rows = [
    ['pulled', grouped(pulled), '', windowText(summary)],
    ['received', grouped(received), '', ''],
    ['matched', grouped(matched), share(matched, pulled), `on both sides${fetched}`],
    ...kinds.map((kind) => {
      const count = byClass[kind];
      const of = kind === 'extra' || kind === 'beyond-horizon' ? received : pulled;
      if (count === null) return [kind, '?', '', 'cannot be told'];
      return [kind, grouped(count), share(count, of), meanings[kind]];
    }),
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
