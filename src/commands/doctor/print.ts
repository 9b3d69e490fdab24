import { describe, describeProblem } from '../../messages/command-line.ts';
import type { Context } from '../../context.ts';
import type { CheckOutcome, CheckResult } from '../../doctor/check-result.ts';
import type { LearntChange } from '../../doctor/dialect/learnt-keys.ts';
import type { DoctorLine } from './output-schema.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { marksFor, paletteFor } from '../../output/terminal/colour.ts';
import { wrapWidth } from '../../output/terminal/terminal-width.ts';
import { wrap } from '../help/layout.ts';

/** Writes results to stdout as they come. */
export interface DoctorPrinter {
  group(title: string, results: readonly CheckResult[]): Promise<void>;
  learnt(changes: readonly LearntChange[]): Promise<void>;
  end(summary: DoctorSummary): Promise<void>;
}

type PrintContext = Pick<Context, 'stdout' | 'env' | 'globals'>;

/** `--json`: one object a line, the last one the summary. */
export function jsonPrinter({ stdout }: Pick<PrintContext, 'stdout'>): DoctorPrinter {
  const line = (value: DoctorLine): Promise<void> => writeJson(stdout, value);
  return {
    async group(_title, results) {
      for (const { name, result, detail, hint } of results.map(inWords)) {
        await line({ type: 'check', name, result, detail, hint: hint ?? null });
      }
    },
    async learnt(changes) {
      for (const { key, value, evidence, old } of changes) {
        await line({ type: 'learnt', key, value, evidence, ...(old === undefined ? {} : { old }) });
      }
    },
    end: (summary) => line({ type: 'summary', ...summary }),
  };
}

/** Of the names of checks, in columns. */
const nameWidth = 12;

/**
 * For people: a line for each check, and its hint below it where it is not in order; under `--quiet` nothing that is in
 * order.
 */
export async function prettyPrinter(context: PrintContext): Promise<DoctorPrinter> {
  const { stdout, globals } = context;
  const { quiet } = globals;
  const colours = await paletteFor(stdout, context);
  const marks = marksFor(context);
  const paint = { pass: colours.green, warn: colours.yellow, fail: colours.red, skip: colours.dim };
  // Chalk takes further arguments for more text.
  const dim = (line: string): string => colours.dim(line);
  const width = wrapWidth(stdout);
  const indent = marks.pass.length + 1 + nameWidth + 1;
  const put = (lines: readonly string[]): Promise<void> => write(stdout, `${lines.join('\n')}\n`);
  const indented = (text: string, columns: number): string[] =>
    wrap(sanitize(text), Math.max(20, width - columns)).map((one) => ' '.repeat(columns) + one);
  const inside = (text: string): string[] => indented(text, indent);
  const checkLines = (checks: Alike): string[] => {
    const [{ result, detail, hint }] = checks;
    const names = checks.map(({ name }) => name.slice(name.indexOf('.') + 1));
    const mark = paint[result](marks[result]);
    const narrow = marks.pass.length + 1;
    const isOne = names.length === 1;
    const text = isOne ? inside(detail) : indented(`${names.join(', ')}: ${detail}`, narrow);
    const [first = '', ...rest] = text;
    const label = isOne ? `${names.join('').padEnd(nameWidth)} ` : '';
    const hintText = hint === undefined || result === 'pass' ? undefined : `hint: ${hint}`;
    const hints = hintText === undefined ? [] : isOne ? inside(hintText) : indented(hintText, narrow);
    return [`${mark} ${label}${first.trimStart()}`, ...rest, ...hints.map(dim)];
  };
  return {
    async group(title, results) {
      const shown = quiet ? results.filter(({ result }) => result === 'warn' || result === 'fail') : results;
      if (quiet && shown.length === 0) return;
      await put([colours.bold(sanitize(title)), ...alike(shown.map(inWords)).flatMap(checkLines), '']);
    },
    learnt: (changes) =>
      put([
        colours.bold('learnt'),
        ...changes.flatMap(({ key, value, evidence, old }) => {
          const was = old === undefined || old === value ? '' : ` (was ${shown(old)})`;
          return [`  ${sanitize(`${key} ${shown(value)}${was}`)}`, ...inside(evidence).map(dim)];
        }),
        '',
      ]),
    end: async ({ pass, warn, fail, skip, requests, written }) => {
      if (quiet && warn + fail === 0) return;
      const verdict = fail > 0 ? colours.red : colours.green;
      const counts = `${pass} passed, ${warn} warning${warn === 1 ? '' : 's'}, ${fail} failed, ${skip} skipped`;
      const asked = requests === 0 ? '' : `; ${requests} requests`;
      const saved =
        written === null ? '' : `; wrote ${written} key${written === 1 ? '' : 's'} to the profile`;
      await put(wrap(`${counts}${asked}${saved}`, width).map((line) => verdict(line)));
    },
  };
}

type CheckInWords = Pick<CheckResult, 'name' | 'result' | 'hint'> & { readonly detail: string };
type Alike = [CheckInWords, ...CheckInWords[]];

function inWords({ name, result, found, hint }: CheckResult): CheckInWords {
  if (typeof found === 'string') return { name, result, detail: found, hint };
  const said = found instanceof Error ? describe(found) : describeProblem(found);
  return { name, result, detail: said.message, hint: said.hint };
}

/** Checks in a row that were skipped for one reason stand in one line. */
function alike(results: readonly CheckInWords[]): Alike[] {
  const groups: Alike[] = [];
  for (const result of results) {
    const last = groups.at(-1);
    const isSkip = last?.[0].result === 'skip' && result.result === 'skip';
    if (last !== undefined && isSkip && last[0].detail === result.detail) last.push(result);
    else groups.push([result]);
  }
  return groups;
}

/** An empty JSON Pointer is a value. */
const shown = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

type DoctorSummary = Omit<Extract<DoctorLine, { type: 'summary' }>, 'type'>;

export const countOf = (results: readonly CheckResult[], outcome: CheckOutcome): number =>
  results.filter(({ result }) => result === outcome).length;
