import type { Audit } from '../../audit/audit.ts';
import {
  type Finding,
  meanings,
  openClasses,
  problemClasses,
  unlistedClasses,
} from '../../audit/classify-lead.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import { objectWriter, stdoutWriter } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, renderTable } from '../../output/table.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { type Palette, paletteFor, terminalWidth, wrapWidth, wrap } from '../../output/terminal/terminal.ts';
import { formatSeconds, isoTime } from '../../time/time-text.ts';

/** The last line of the JSON; tables and verdicts are made of it, too. */
type AuditSummary = ReturnType<typeof summarize>;

export function summarize(
  { pulled, received, matched, byClass, horizon, withoutId }: Audit['counts'],
  { since, until }: Pick<LeadFilter, 'since' | 'until'>,
  repaired: number,
) {
  return {
    type: 'summary',
    window: { since: isoTime(since), until: isoTime(until) },
    horizon: isoTime(horizon),
    pulled,
    received,
    matched,
    byClass,
    withoutId,
    repaired,
  };
}

/**
 * Undefined where at least half of the received leads can be judged. The others are older than what the service lists.
 * `listedSince`: in the form of `--since`, when the oldest listed leads were created.
 */
export function horizonError(
  { received, byClass, horizon }: AuditSummary,
  listedSince: string | undefined,
): DataError | undefined {
  const beyond = byClass['beyond-horizon'] ?? 0;
  const compared = received - (byClass.test ?? 0);
  if (beyond * 2 <= compared) return undefined;
  const listed = horizon === null ? 'the service lists no lead' : `the service lists none before ${horizon}`;
  const leads = `${grouped(beyond)} of ${counted(compared, 'lead', 'leads')}`;
  return new DataError(
    `most of what was received cannot be compared: ${leads} are older than the list, and ${listed}`,
    {
      hint:
        listedSince === undefined
          ? "see with 'leads list --limit all' whether the service lists any lead"
          : `compare what it lists: leads audit --since ${listedSince}`,
    },
  );
}

/** Leads that are a reason for exit 7: those on which both sides do not agree, and those that cannot be compared by an id. */
export const problemsIn = ({ byClass, withoutId }: Pick<AuditSummary, 'byClass' | 'withoutId'>): number =>
  problemClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), withoutId);

export function noteClock(
  { times: { clockAheadMs: serviceAheadMs }, disprovenBehindMs: serviceBehindMs }: Audit['clock'],
  messages: Messages,
): void {
  const decides = 'decides here how old a lead is';
  if (serviceAheadMs !== 0) {
    const side = serviceAheadMs > 0 ? 'behind' : 'ahead of';
    const difference = `${formatSeconds(Math.abs(serviceAheadMs))} ${side} the service's`;
    messages.note('clock', `this machine's clock is ${difference}, which ${decides}`);
  }
  if (serviceBehindMs > 0) {
    const behind = `${formatSeconds(serviceBehindMs)} behind this machine's clock, which ${decides}`;
    messages.note('clock', `the service's 'Date' is older than leads that it lists, and ${behind}`);
  }
}

export function noteCounts({ counts, listedCount }: Audit, messages: Messages): void {
  const { pulled, withoutId, horizon, notCompared, notJudged } = counts;
  if (listedCount === 0) {
    messages.warn('the service lists no lead: whether one is missing, or too many, cannot be told');
  } else if (horizon === undefined) {
    messages.note(
      'no-horizon',
      "no lead of the list says in 'createdAt' when it was created: whether others were received that it no longer shows cannot be told",
    );
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record of the service has', 'records of the service have');
    const help = pulled === 0 ? ': leads config set api.id FIELD names another field' : '';
    messages.warn(
      `${records} no usable id, so nothing can be said about ${withoutId === 1 ? 'it' : 'them'}${help}`,
    );
  }
  if (notCompared > 0) {
    const leads = counted(notCompared, 'lead has', 'leads have');
    messages.warn(
      `${leads} other bytes than what was received, and could not be compared: the received body was pruned`,
    );
  }
  if (notJudged > 0) {
    const leads = counted(notJudged, 'received lead is', 'received leads are');
    messages.warn(
      `${leads} not in the list, and may be extra: the received body was pruned, so that no filter can choose among them`,
    );
  }
}

export function warnOfRoundedIds(count: number, name: string, messages: Messages): void {
  if (count === 0) return;
  const ids = counted(count, 'id is that of a missing lead', 'ids are those of missing leads');
  messages.warn(
    `${ids}, rounded by what wrote ${name}, so that nothing is repaired: ` +
      'write ids as text, or by a program that keeps all digits of a number, as jq does from 1.7',
  );
}

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
  let longestDelayMs = 0;
  for await (const finding of audit.findings(problemClasses)) {
    if (rows.length < limit) rows.push(rowOf(finding, repaired.has(finding.id)));
    else unprinted += 1;
    if (finding.class === 'late') longestDelayMs = Math.max(longestDelayMs, delayOf(finding));
  }
  const heads = ['CLASS', 'LEAD', 'CREATED', 'RECEIVED', 'REMARK'];
  if (rows.length > 0)
    await write(stdout, `\n${renderTable(heads, rows, { ...fit, width, head: colours.dim })}`);
  if (unprinted > 0)
    messages.say(`${counted(unprinted, 'more finding', 'more findings')}: --limit all, or --json`);
  if (longestDelayMs > 0) {
    const mostHours = `${Math.ceil(longestDelayMs / 3_600_000)}h`;
    messages.say(
      `late leads that are only older than the receiver: --late-after ${mostHours} allows for them`,
    );
  }
  const young = summary.byClass.unsettled ?? 0;
  if (young > 0) {
    const leads = counted(young, 'lead is', 'leads are');
    messages.say(`${leads} younger than --settle: --settle 0s counts ${young === 1 ? 'it' : 'them'}`);
  }
}

const delayOf = ({ createdAt, receivedAt }: Finding): number =>
  Date.parse(receivedAt ?? '') - (readCreatedAt(createdAt) ?? Infinity);

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
  const writer = await stdoutWriter('ndjson', stdout);
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
  const writer = await objectWriter('ndjson', stdout);
  for await (const finding of audit.findings()) await writer.write({ type: 'finding', ...finding });
  await writer.write(summary);
  await writer.end();
}
