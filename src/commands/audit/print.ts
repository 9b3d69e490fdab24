import { messageOf } from '../../errors.ts';
import {
  allClasses,
  type Finding,
  type FindingClass,
  isoTime,
  openClasses,
  problemClasses,
  unlistedClasses,
} from '../../audit/classify-lead.ts';
import type { Audit, AuditCounts } from '../../audit/audit.ts';
import type { Context } from '../../context.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { type FitOptions, renderTable, shortTimes } from '../../output/table.ts';
import { type Palette, paletteFor, terminalWidth, wrapWidth } from '../../output/terminal/terminal.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { type SettledLeads, settledState } from './repair.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { wrap } from '../../output/wrap.ts';
import type { TestCase } from '../../output/junit.ts';
import { writeJunitFile } from '../flags/report-file.ts';

/** On a narrow terminal the times are shortened, then dropped; ids stay whole. */
const fit: FitOptions = {
  whole: ['CLASS', 'LEAD'],
  narrowing: [{ shorten: 'CREATED' }, { shorten: 'RECEIVED' }, { drop: 'RECEIVED' }, { drop: 'CREATED' }],
  short: shortTimes,
};

/** The result of one comparison and its repair, drawn in every form. */
export interface AuditResult {
  readonly audit: Audit;
  readonly summary: AuditSummary;
  readonly settled: SettledLeads;
}

/** Prints the counts, then the first `limit` findings. */
export async function printTable(
  { audit, summary, settled }: AuditResult,
  limit: number,
  context: Pick<Context, 'stdout' | 'messages' | 'env' | 'globals'>,
): Promise<void> {
  const { stdout, messages } = context;
  const colours = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  await write(stdout, countsTable(summary, colours, width));
  const rows: string[][] = [];
  let more = 0;
  for await (const finding of audit.findings(problemClasses)) {
    if (rows.length < limit) rows.push(rowOf(finding, settledState(finding, settled)));
    else more += 1;
  }
  if (rows.length === 0) return;
  const heads = ['CLASS', 'LEAD', 'CREATED', 'RECEIVED', 'REMARK'];
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
      const total = unlistedClasses.some((unlisted) => unlisted === kind) ? received : pulled;
      if (count === null) return [kind, '?', '', 'cannot be told'];
      return [kind, grouped(count), share(count, total), meanings[kind]];
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
    return open.some((openKind) => openKind === kind) ? text : colours.yellow(text);
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

/** A percentage with two decimals. It is never 0% of something, nor 100% of less than all. */
function share(count: number, total: number): string {
  if (total === 0 || count === 0) return '';
  const percent = (count / total) * 100;
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

/** The last line of the table form, on a short screen too. */
export async function printVerdict(
  { matched, byClass, repaired, withoutId }: AuditSummary,
  isOver: boolean,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<void> {
  const colours = await paletteFor(context.stdout, context);
  const nameless = withoutId === 0 ? '' : `${grouped(withoutId)} without an id`;
  const findings = [findingCounts(byClass), nameless].filter((text) => text !== '').join(', ');
  const both = `${counted(matched, 'lead is', 'leads are')} on both sides`;
  const repairs = repaired === 0 ? '' : `, ${grouped(repaired)} repaired`;
  const details = findings === '' ? '' : `: ${findings}${repairs}`;
  const inOrder = findings === '' ? 'no finding' : 'nothing is left to repair';
  const verdict = `${isOver ? inOrder : 'not in order'}${details}; ${both}`;
  const lines = wrap(verdict, wrapWidth(context.stdout)).map((line) =>
    (isOver ? colours.green : colours.red)(line),
  );
  await write(context.stdout, `\n${lines.join('\n')}\n`);
}

const findingCounts = (byClass: AuditSummary['byClass']): string =>
  problemClasses
    .flatMap((kind) => {
      const count = byClass[kind] ?? 0;
      return count === 0 ? [] : [`${grouped(count)} ${kind}`];
    })
    .join(', ');

/** Prints one line for a round of `--watch`: the time at which it ended, the counts, and the findings. */
export function printRound(
  { pulled, received, byClass, withoutId, repaired }: AuditSummary,
  { stdout, clock }: Pick<Context, 'stdout' | 'clock'>,
): Promise<void> {
  const unsettled = byClass.unsettled ?? 0;
  const parts = [
    `${counted(pulled, 'lead', 'leads')} pulled, ${grouped(received)} received: ${findingCounts(byClass) || 'no finding'}`,
    ...(repaired === 0 ? [] : [`${grouped(repaired)} repaired`]),
    ...(withoutId === 0 ? [] : [`${grouped(withoutId)} without an id`]),
    ...(unsettled === 0 ? [] : [`${grouped(unsettled)} too young`]),
  ];
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return write(stdout, `${time}  ${parts.join('; ')}\n`);
}

/** Prints the missing leads, one a line, in the service's own bytes. */
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

/** Prints a finding a line, and the summary as the last one. */
export async function printJson(
  audit: Pick<Audit, 'findings'>,
  summary: AuditSummary,
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  const print = (line: object): Promise<void> => writer.write([{ bytes: Buffer.from(JSON.stringify(line)) }]);
  for await (const finding of audit.findings()) {
    await print({ type: 'finding', ...finding });
  }
  await print(summary);
  await writer.end();
}

/** The last line of `--json`. */
export type AuditSummary = ReturnType<typeof summarize>;

export function summarize(
  {
    counts: { pulled, received, matched, backfilled, richer, byClass, horizon, withoutId },
    richerFields,
  }: Pick<Audit, 'counts' | 'richerFields'>,
  { since, until }: Pick<LeadFilter, 'since' | 'until'>,
  repaired = 0,
) {
  const lost = (byClass.missing ?? 0) + (byClass.refused ?? 0);
  const settled = matched + lost;
  return {
    type: 'summary',
    window: { since: isoTime(since), until: isoTime(until) },
    horizon: isoTime(horizon),
    pulled,
    received,
    matched,
    backfilled,
    richer,
    richerFields,
    byClass: Object.fromEntries(allClasses.map((kind) => [kind, byClass[kind]])) as AuditCounts['byClass'],
    withoutId,
    lossRate: settled === 0 ? null : Number((lost / settled).toFixed(6)),
    repaired,
  };
}

/**
 * Says why most of the received leads cannot be judged: the service does not list leads that old. Undefined where it lists
 * enough of them.
 */
export function horizonDoubt({ received, byClass, horizon }: AuditSummary): string | undefined {
  const beyond = byClass['beyond-horizon'] ?? 0;
  const compared = received - (byClass.test ?? 0);
  if (beyond * 2 <= compared) return undefined;
  const listed = horizon === null ? 'the service lists no lead' : `the service lists none before ${horizon}`;
  return `most of what was received cannot be compared: ${grouped(beyond)} of ${counted(compared, 'lead', 'leads')} are older than the list, and ${listed}`;
}

/** Leads that are a reason for exit 7: those on which both sides do not agree, and those that cannot be compared by an id. */
export const problemsIn = ({ byClass, withoutId }: Pick<AuditSummary, 'byClass' | 'withoutId'>): number =>
  problemClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), withoutId);

/** The meaning of each class in a few words. */
const meanings: Readonly<Record<FindingClass, string>> = {
  test: 'sent by leads send or leads check',
  refused: 'came and was rejected',
  missing: 'pulled, never received',
  extra: 'received, cannot be pulled',
  different: 'not the same in some fields',
  waiting: 'received, and some target has not had it',
  late: 'received late',
  unsettled: 'too young to be counted',
  'beyond-horizon': 'received, older than what the service lists',
};

interface Times {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ms: number;
}

interface Comparison extends Times {
  /** Why most of the comparison proves nothing; undefined where it does. */
  readonly doubt: string | undefined;
}

/** Doubts that the counts alone would hide: about the list, and so about every class, or about a single class. */
export interface Doubts {
  readonly list?: string;
  readonly different?: string;
  readonly extra?: string;
}

export function doubtsOf({
  listed,
  isProven,
  counts: { notCompared, notJudged },
}: Pick<Audit, 'listed' | 'isProven'> & {
  readonly counts: Pick<AuditCounts, 'notCompared' | 'notJudged'>;
}): Doubts {
  const compared = `${counted(notCompared, 'lead has', 'leads have')} other bytes than what was received`;
  const judged = `${counted(notJudged, 'received lead is', 'received leads are')} not in the list, and may be extra`;
  const unknown = `whether the filters ask for ${notJudged === 1 ? 'it' : 'them'} cannot be told`;
  const pruned = 'the received body was pruned';
  return {
    ...(isProven ? {} : { list: 'the service does not show that its list is complete' }),
    ...(listed > 0
      ? {}
      : { list: 'the service lists no lead: whether one is missing, or too many, cannot be told' }),
    ...(notCompared === 0 ? {} : { different: `${compared}, and could not be compared: ${pruned}` }),
    ...(notJudged === 0 ? {} : { extra: `${judged}: ${unknown}, since ${pruned}` }),
  };
}

/** The text of a failed test lists at most so many findings. */
const mostListed = 100;

/**
 * A test for each class, always the same ones, so that a CI server can show how each of them develops; one that failed lists
 * the first findings that were not repaired and did not come. Throws an `OutputError`.
 */
export async function writeJunit(
  path: string,
  { audit, summary: { byClass, pulled }, settled }: AuditResult,
  { doubt, ...times }: Comparison,
): Promise<void> {
  const doubts = doubtsOf(audit);
  const whole = completeness(pulled, audit.counts.withoutId, doubt, doubts.list);
  const cases = [testCase('complete', whole, times.ms)];
  for (const kind of problemClasses) {
    const count = byClass[kind];
    cases.push(
      testCase(
        kind,
        count === null
          ? { kind: 'skipped', message: 'cannot be told' }
          : await outcomeOf(kind, audit, settled, doubts),
      ),
    );
  }
  await writeJunitFile(path, { name: 'leads audit', ...times, cases });
}

/** Replaces the file of an earlier run: an audit that did not end must not look like one that passed. */
export async function writeJunitOfFailure(path: string, error: unknown, times: Times): Promise<void> {
  const message = messageOf(error);
  const failed = { kind: 'failed', type: 'incomplete', message, text: message } as const;
  const cases = [
    testCase('complete', failed, times.ms),
    ...problemClasses.map((kind) => testCase(kind, { kind: 'skipped', message: 'not known' })),
  ];
  await writeJunitFile(path, { name: 'leads audit', ...times, cases });
}

const testCase = (name: string, outcome: TestCase['outcome'], ms = 0): TestCase => ({
  className: 'leads.audit',
  name,
  ms,
  outcome,
});

async function outcomeOf(
  kind: FindingClass,
  audit: Pick<Audit, 'findings'>,
  settled: SettledLeads,
  doubts: Doubts,
): Promise<TestCase['outcome']> {
  const listed: string[] = [];
  const counts = { left: 0, repaired: 0, 'came meanwhile': 0 };
  for await (const finding of audit.findings([kind])) {
    const state = settledState(finding, settled) ?? 'left';
    counts[state] += 1;
    if (state === 'left' && counts.left <= mostListed) listed.push(lineOf(finding));
  }
  const { left: open, ...settledCounts } = counts;
  const notes = Object.entries(settledCounts).flatMap(([state, count]) =>
    count === 0 ? [] : [`${grouped(count)} ${state}`],
  );
  const doubt = doubts.list ?? (kind === 'different' || kind === 'extra' ? doubts[kind] : undefined);
  if (open === 0 && doubt !== undefined) return { kind: 'skipped', message: `none was found, and ${doubt}` };
  if (open === 0) return { kind: 'passed', output: notes.length === 0 ? undefined : notes.join('\n') };
  const more = open > mostListed ? [`and ${grouped(open - mostListed)} more`] : [];
  return {
    kind: 'failed',
    type: kind,
    message: `${counted(open, 'lead', 'leads')}: ${meanings[kind]}`,
    text: [...listed, ...more, ...notes].join('\n'),
  };
}

const lineOf = ({ id, createdAt, receivedAt, fields, reason }: Finding): string =>
  [
    id,
    ...(createdAt === null ? [] : [`created ${createdAt}`]),
    ...(receivedAt === null ? [] : [`received ${receivedAt}`]),
    ...(fields === null ? [] : [`fields ${fields.join(', ')}`]),
    ...(reason === null ? [] : [reason]),
  ].join(', ');

/** The test of the whole list. A record without a usable id cannot be compared, so that it fails. */
function completeness(
  pulled: number,
  withoutId: number,
  doubt: string | undefined,
  listDoubt: string | undefined,
): TestCase['outcome'] {
  const output = `${grouped(pulled)} leads pulled`;
  if (doubt !== undefined) return { kind: 'failed', type: 'incomplete', message: doubt, text: doubt };
  if (withoutId === 0 && listDoubt !== undefined)
    return { kind: 'skipped', message: `${output}, and ${listDoubt}` };
  if (withoutId === 0) return { kind: 'passed', output };
  const message = `${counted(withoutId, 'record has', 'records have')} no usable id`;
  return { kind: 'failed', type: 'no-id', message, text: `${message}\n${output}` };
}
