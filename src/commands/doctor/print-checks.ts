import type { Context } from '../../context.ts';
import { commandLineFor, hintFor } from '../../front.ts';
import type { CheckOutcome, CheckResult } from '../../doctor/check-result.ts';
import type { LearntKey } from '../../doctor/learn/examination.ts';
import { type Style, styleFor } from '../../output/report.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { sanitize, wrap } from '../../output/terminal/terminal.ts';

/** Checks of one subject, in the order in which they are printed. */
export interface CheckGroup {
  readonly title: string;
  readonly checks: readonly CheckResult[];
}

/** A learnt key, and the value that the profile held before; undefined where it held none. */
export interface LearntChange extends LearntKey {
  readonly path: readonly string[];
  readonly old: unknown;
}

export interface Summary extends Readonly<Record<CheckOutcome, number>> {
  readonly requests: number;
  readonly learnt: number;
  /** How many learnt keys were written to the profile; null where nothing was learnt. */
  readonly written: number | null;
}

type Printer = ReturnType<typeof jsonPrinter>;
type PrinterContext = Pick<Context, 'stdout' | 'env' | 'globals'>;

export const printerFor = async (format: string, context: PrinterContext): Promise<Printer> =>
  format === 'json' ? jsonPrinter(context) : textPrinter(await styleFor(context), context);

const hintText = (
  { hint }: CheckResult,
  { env, globals }: Pick<PrinterContext, 'env' | 'globals'>,
): string | undefined => hintFor(hint, commandLineFor(globals.baseUrl !== undefined, env));

const jsonPrinter = (context: PrinterContext) => ({
  async printResults(groups: readonly CheckGroup[], learnt: readonly LearntChange[]) {
    for (const check of groups.flatMap(({ checks }) => checks))
      await writeJson(context.stdout, { type: 'check', ...check, hint: hintText(check, context) ?? null });
    for (const { key, value, evidence, old } of learnt)
      await writeJson(context.stdout, { type: 'learnt', key, value, evidence, old });
  },
  printSummary: (summary: Summary) => writeJson(context.stdout, { type: 'summary', ...summary }),
});

/** For people: a line for each check, and its hint below it; under `--quiet` nothing that is in order. */
function textPrinter(style: Style, { stdout, env, globals }: PrinterContext): Printer {
  const { quiet } = globals;
  return {
    async printResults(groups, learnt) {
      const sections = (quiet ? onlyProblems(groups) : groups).map(({ title, checks }) => [
        style.colours.bold(sanitize(title)),
        ...joinSkippedAlike(checks).flatMap((alike) =>
          checkLines(alike, hintText(alike[0], { env, globals }), style),
        ),
      ]);
      if (learnt.length > 0)
        sections.push([
          style.colours.bold('learnt'),
          ...learnt.flatMap((change) => learntLines(change, style)),
        ]);
      await write(stdout, sections.map((lines) => `${lines.join('\n')}\n\n`).join(''));
    },
    async printSummary(summary) {
      if (!quiet || summary.warn + summary.fail > 0) await write(stdout, summaryText(summary, style));
    },
  };
}

const onlyProblems = (groups: readonly CheckGroup[]): CheckGroup[] =>
  groups
    .map(({ title, checks }) => ({
      title,
      checks: checks.filter(({ result }) => result === 'warn' || result === 'fail'),
    }))
    .filter(({ checks }) => checks.length > 0);

type ChecksAlike = readonly [CheckResult, ...CheckResult[]];

/** Neighbours that were skipped for the same reason are drawn as one; every other check stays alone. */
function joinSkippedAlike(checks: readonly CheckResult[]): ChecksAlike[] {
  const joined: [CheckResult, ...CheckResult[]][] = [];
  for (const check of checks) {
    const previous = joined.at(-1);
    const areSkips = previous?.[0].result === 'skip' && check.result === 'skip';
    if (previous !== undefined && areSkips && previous[0].detail === check.detail) previous.push(check);
    else joined.push([check]);
  }
  return joined;
}

const nameWidth = 12;

/** `✓ tls          TLSv1.3, …`, or `- dns, tls: …` for checks that are drawn as one. */
function checkLines(
  alike: ChecksAlike,
  hint: string | undefined,
  { colours, marks, width }: Style,
): string[] {
  const [{ result, detail }] = alike;
  const paint = { pass: colours.green, warn: colours.yellow, fail: colours.red, skip: colours.dim };
  const names = alike.map(({ name }) => name.slice(name.indexOf('.') + 1)).join(', ');
  const isAlone = alike.length === 1;
  const label = isAlone ? `${names.padEnd(nameWidth)} ` : '';
  const columns = marks.pass.length + 1 + label.length;
  const [first = '', ...further] = wrapIndented(isAlone ? detail : `${names}: ${detail}`, columns, width);
  const hints = hint === undefined ? [] : wrapIndented(`hint: ${hint}`, columns, width);
  const heading = `${paint[result](marks[result])} ${label}${first.trimStart()}`;
  return [heading, ...further, ...hints.map((line) => colours.dim(line))];
}

function learntLines(
  { key, value, evidence, old }: LearntChange,
  { colours, marks, width }: Style,
): string[] {
  const former = old === undefined || old === value ? '' : ` (was ${valueText(old)})`;
  const reason = wrapIndented(evidence, nameWidth + marks.pass.length + 2, width);
  return [`  ${sanitize(`${key} ${valueText(value)}${former}`)}`, ...reason.map((line) => colours.dim(line))];
}

/** A text in quotes only where it is empty, as the JSON Pointer to a whole answer is. */
const valueText = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

const wrapIndented = (text: string, columns: number, width: number): string[] =>
  wrap(sanitize(text), Math.max(20, width - columns)).map((line) => ' '.repeat(columns) + line);

function summaryText(summary: Summary, { colours, width }: Style): string {
  const { pass: passed, warn, fail: failed, skip: skipped, requests, written } = summary;
  const counts = `${passed} passed, ${warn} warning${warn === 1 ? '' : 's'}, ${failed} failed, ${skipped} skipped`;
  const requestCount = requests === 0 ? '' : `; ${requests} requests`;
  const saved = written === null ? '' : `; wrote ${written} key${written === 1 ? '' : 's'} to the profile`;
  const paint = failed > 0 ? colours.red : colours.green;
  const lines = wrap(`${counts}${requestCount}${saved}`, width).map((line) => paint(line));
  return `${lines.join('\n')}\n`;
}
