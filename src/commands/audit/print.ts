import type { Audit } from '../../audit/audit.ts';
import {
  type Finding,
  meanings,
  openClasses,
  problemClasses,
  unlistedClasses,
} from '../../audit/classify-lead.ts';
import type { Context } from '../../context.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, renderTable } from '../../output/table.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { type Palette, paletteFor, terminalWidth, wrapWidth, wrap } from '../../output/terminal/terminal.ts';
import type { AuditSummary } from './summary.ts';

export interface AuditResult {
  readonly audit: Pick<Audit, 'findings' | 'unreceived'>;
  readonly summary: AuditSummary;
  readonly repaired: ReadonlySet<string>;
  readonly isInOrder: boolean;
}

type PrintContext = Pick<Context, 'stdout' | 'messages' | 'env' | 'globals'>;

/** On a narrow terminal the times are shortened, then dropped; ids stay whole. */
const fit: FitOptions = {
  cutLast: ['CLASS', 'LEAD'],
  narrowing: [{ shorten: 'CREATED' }, { shorten: 'RECEIVED' }, { drop: 'RECEIVED' }, { drop: 'CREATED' }],
};

export async function printTable(
  { audit, summary, repaired }: AuditResult,
  limit: number,
  context: PrintContext,
): Promise<void> {
  const { stdout, messages } = context;
  const colours = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  await write(stdout, countsTable(summary, colours, width));
  const rows: string[][] = [];
  let unprinted = 0;
  for await (const finding of audit.findings(problemClasses)) {
    if (rows.length < limit) rows.push(rowOf(finding, repaired.has(finding.id)));
    else unprinted += 1;
  }
  if (rows.length === 0) return;
  const heads = ['CLASS', 'LEAD', 'CREATED', 'RECEIVED', 'REMARK'];
  await write(stdout, `\n${renderTable(heads, rows, { ...fit, width, head: colours.dim })}`);
  if (unprinted > 0)
    messages.say(`${counted(unprinted, 'more finding', 'more findings')}: --limit all, or --json`);
}

function countsTable(summary: AuditSummary, colours: Palette, width: number | undefined): string {
  const { pulled, received, matched, byClass, repaired } = summary;
  const rareClasses = (['test', ...openClasses] as const).filter((kind) => (byClass[kind] ?? 0) > 0);
  const rows = [
    ['pulled', grouped(pulled), '', windowText(summary)],
    ['received', grouped(received), '', ''],
    ['matched', grouped(matched), share(matched, pulled), 'on both sides'],
    ...[...problemClasses, ...rareClasses].map((kind) => {
      const count = byClass[kind];
      if (count === null) return [kind, '?', '', 'cannot be told'];
      const isUnlisted = unlistedClasses.some((unlisted) => unlisted === kind);
      const total = isUnlisted ? received : pulled;
      return [kind, grouped(count), share(count, total), meanings[kind]];
    }),
    ...(repaired === 0 ? [] : [['repaired', grouped(repaired), '', 'of the refused and missing ones']]),
  ];
  return renderTable(['', 'LEADS', 'SHARE', ' '], rows, {
    width,
    rightAligned: ['LEADS', 'SHARE'],
    head: colours.dim,
    cell(text, row, head) {
      const kind = problemClasses.find((problem) => problem === rows[row]?.[0]);
      if (head !== 'LEADS' || kind === undefined || byClass[kind] === 0) return text;
      return kind === 'refused' || kind === 'missing' ? colours.red(text) : colours.yellow(text);
    },
  });
}

function windowText({ window: { since, until } }: AuditSummary): string {
  const from = since === null ? '' : `from ${minutes(since)} `;
  return `created ${from}until ${until === null ? 'now' : minutes(until)}`;
}

const minutes = (iso: string): string => `${iso.slice(0, 16)}Z`;

/** A percentage with two decimals. It is never 0% of something, nor 100% of less than all. */
function share(count: number, total: number): string {
  if (total === 0 || count === 0) return '';
  const percent = (count / total) * 100;
  if (percent < 0.01) return '<0.01%';
  if (percent < 100 && percent > 99.99) return '>99.9%';
  return `${percent.toFixed(percent === 100 ? 0 : 2)}%`;
}

const rowOf = (
  { class: kind, id, createdAt, receivedAt, fields, reason }: Finding,
  isRepaired: boolean,
): string[] => [
  kind,
  id,
  createdAt ?? '',
  receivedAt ?? '',
  [fields && `fields: ${fields.join(', ')}`, reason, isRepaired ? 'repaired' : null]
    .filter((text) => text !== null)
    .join('; '),
];

/** It comes after the table, so that it is still seen where that is longer than the screen. */
export async function printVerdict(result: AuditResult, context: PrintContext): Promise<void> {
  const { green, red } = await paletteFor(context.stdout, context);
  const paint = result.isInOrder ? green : red;
  const lines = wrap(verdictOf(result), wrapWidth(context.stdout)).map((line) => paint(line));
  await write(context.stdout, `\n${lines.join('\n')}\n`);
}

/** Prints one line for each round of `--watch`. */
export function printRound(
  result: AuditResult,
  { stdout, clock }: Pick<Context, 'stdout' | 'clock'>,
): Promise<void> {
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return write(stdout, `${time}  ${verdictOf(result)}\n`);
}

function verdictOf({ summary, isInOrder }: AuditResult): string {
  const { byClass, matched, withoutId, repaired } = summary;
  const findings = [
    ...problemClasses.map((kind) => [byClass[kind] ?? 0, kind] as const),
    [withoutId, 'without an id'] as const,
  ].filter(([count]) => count > 0);
  const countsToTell = [...findings, ...(repaired > 0 ? [[repaired, 'repaired'] as const] : [])];
  const orderOfFindings = isInOrder ? 'nothing is left to repair' : 'not in order';
  const order = findings.length === 0 ? 'no finding' : orderOfFindings;
  const details = countsToTell.map(([count, name]) => `${grouped(count)} ${name}`).join(', ');
  const unknownClasses = problemClasses.filter((kind) => byClass[kind] === null);
  const doubt = unknownClasses.length === 0 ? '' : `; ${unknownClasses.join(', ')} cannot be told`;
  const both = `${counted(matched, 'lead is', 'leads are')} on both sides`;
  return `${order}${details === '' ? '' : `: ${details}`}${doubt}; ${both}`;
}

export async function printMissing(
  { audit, summary }: AuditResult,
  { stdout, messages }: PrintContext,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  for await (const leads of audit.unreceived('missing')) await writer.write(leads);
  await writer.end();
  const { missing, refused } = summary.byClass;
  const rejected =
    refused === null || refused === 0 ? '' : `; ${grouped(refused)} more came and were rejected`;
  messages.say(`${counted(missing ?? 0, 'lead is', 'leads are')} missing${rejected}`);
}

export async function printJson(
  { audit, summary }: AuditResult,
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  const print = (line: object): Promise<void> => writer.write([{ bytes: Buffer.from(JSON.stringify(line)) }]);
  for await (const finding of audit.findings()) await print({ type: 'finding', ...finding });
  await print(summary);
  await writer.end();
}
