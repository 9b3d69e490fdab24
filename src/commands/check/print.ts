import { groupOf, levels, type Probe } from '../../check/probe.ts';
import type { Context } from '../../context.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { renderTable } from '../../output/table.ts';
import {
  type Marks,
  marksFor,
  type Palette,
  paletteFor,
  terminalWidth,
  wrapWidth,
  sanitize,
} from '../../output/terminal/terminal.ts';
import { counted } from '../../output/terminal/progress.ts';
import { formatDuration } from '../../time/time-text.ts';
import { wrap } from '../help/layout.ts';
import type { DescribedReport, Summary } from './report.ts';

/** Writes reports to stdout, in the order of the probes. */
export interface ReportPrinter {
  probe(report: DescribedReport): Promise<void>;
  end(summary: Summary): Promise<void>;
}

type PrintContext = Pick<Context, 'stdout' | 'env' | 'globals'>;

/** Passes reports on in the order of `probes`, however they end. */
export function inOrderOf(
  probes: readonly Probe[],
  pass: (report: DescribedReport) => Promise<void>,
): (report: DescribedReport) => Promise<void> {
  const waiting = probes.map(({ name }) => name);
  const ended = new Map<string, DescribedReport>();
  return async (report) => {
    ended.set(report.name, report);
    for (let next = ended.get(waiting[0] ?? ''); next !== undefined; next = ended.get(waiting[0] ?? '')) {
      waiting.shift();
      await pass(next);
    }
  };
}

/** `--json`: one object a line, the last one the summary. */
export function jsonPrinter(target: string, { stdout }: Pick<PrintContext, 'stdout'>): ReportPrinter {
  const line = (value: object): Promise<void> => writeJson(stdout, value);
  return {
    probe: line,
    end: ({ counts, accepted }) => line({ type: 'summary', target, ...counts, accepted }),
  };
}

/** For people: a line for what passes in a group, and some for each probe that does not. */
export async function prettyPrinter(
  target: string,
  probes: readonly Probe[],
  context: PrintContext,
): Promise<ReportPrinter> {
  const { stdout } = context;
  const colours = await paletteFor(stdout, context);
  const width = wrapWidth(stdout);
  const style = { colours, marks: marksFor(context), width };
  const lastOf = new Map(probes.map((probe) => [groupOf(probe), probe.name]));
  let group: DescribedReport[] = [];
  await write(stdout, `${colours.bold(`checking ${target}`)}\n`);
  return {
    async probe(report) {
      group.push(report);
      if (report.name !== lastOf.get(report.group)) return;
      const text = groupText(report.group, group, style);
      group = [];
      await write(stdout, text);
    },
    end: (summary) => write(stdout, `${summaryLines(summary, colours, width).join('\n')}\n`),
  };
}

interface Style {
  readonly colours: Palette;
  readonly marks: Marks;
  /** Columns of the terminal. */
  readonly width: number;
}

/** Of the names of groups, in columns. */
const groupWidth = 11;

function groupText(group: string, reports: readonly DescribedReport[], style: Style): string {
  const { marks, colours } = style;
  const short = ({ name }: DescribedReport): string => name.slice(group.length + 1);
  const of = (result: string): readonly DescribedReport[] => reports.filter((one) => one.result === result);
  const passed = of('pass').map(short).join(', ');
  const withReasons = (result: 'warn' | 'skip', mark: string): string[] => {
    const details = [...new Set(of(result).map(({ detail }) => detail))];
    return details.flatMap((detail) => {
      const alike = of(result).filter((one) => one.detail === detail);
      const hints = [...new Set(alike.map(({ hint }) => hint))];
      // Of several hints none belongs to all of them.
      const hint = hints.length === 1 && hints[0] !== null ? `; ${hints[0] ?? ''}` : '';
      return listed(mark, group, `${alike.map(short).join(', ')}: ${detail}${hint}`, style);
    });
  };
  return [
    ...(passed === '' ? [] : listed(colours.green(marks.pass), group, passed, style)),
    ...of('fail').flatMap((report) => failureLines(report, style)),
    ...withReasons('warn', colours.yellow(marks.warn)),
    ...withReasons('skip', colours.dim(marks.skip)),
    '',
  ].join('\n');
}

/** A mark, the group, and a text that is wrapped beside it. */
function listed(mark: string, group: string, text: string, { width, marks }: Style): string[] {
  const indent = marks.pass.length + 1 + groupWidth + 1;
  const [first = '', ...rest] = wrap(sanitize(text), width - indent);
  return [
    `${mark} ${group.padEnd(groupWidth)} ${first}`,
    ...rest.map((line) => `${' '.repeat(indent)}${line}`),
  ];
}

function failureLines(report: DescribedReport, { colours, marks, width }: Style): string[] {
  const { name, level, expected, detail, seen, hint, curl, known } = report;
  const indent = ' '.repeat(marks.pass.length + 3);
  const inside = (text: string): string[] =>
    wrap(sanitize(text), width - indent.length).map((line) => indent + line);
  const took = seen === null || seen.status === null ? '' : ` after ${formatDuration(seen.ms)}`;
  const knownText = known === true ? ', known' : '';
  return [
    `${colours.red(marks.fail)} ${colours.bold(name)} (${level}${knownText}): ${expected}`,
    ...inside(`${detail}${took}${answerLine(seen?.answer)}`),
    ...(hint === null ? [] : inside(hint)),
    // One line, so that it can be pasted.
    ...(curl === null ? [] : [colours.dim(indent + sanitize(curl))]),
  ];
}

/** Of an answer's first line, in characters. */
const shownLine = 200;

function answerLine(answer: string | null | undefined): string {
  const [line = ''] = (answer ?? '').trim().split('\n');
  return line === '' ? '' : `: ${line.length > shownLine ? `${line.slice(0, shownLine)}…` : line}`;
}

/** What comes last. */
function summaryLines(summary: Summary, colours: Palette, width: number): string[] {
  const { counts, cut, unproven, accepted, healed, ms } = summary;
  const verdict = summary.isInOrder ? colours.green : colours.red;
  const warnings = `${counts.warn} warning${counts.warn === 1 ? '' : 's'}`;
  const counted = `${counts.pass} passed, ${counts.fail} failed${levelsText(summary)}, ${warnings}, ${counts.skip} skipped in ${formatDuration(ms)}`;
  return [
    '',
    ...(cut.length === 0
      ? []
      : wrap(`the receiver took so long that ${cut.length} probes did not run`, width)),
    ...(unproven.length === 0 ? [] : wrap(unprovenText(unproven.length), width)),
    ...(healed.length === 0 ? [] : wrap(`pass now, and are in the baseline: ${healed.join(', ')}`, width)),
    ...wrap(acceptedText(accepted), width),
    ...wrap(counted, width).map(verdict),
  ];
}

const unprovenText = (count: number): string =>
  `${counted(count, 'probe was', 'probes were')} answered 429: what must hold there is not known to hold`;

/** In the form in which bash writes them out: `leads-check-k3f9x2-{1,2,{5..9}}`. */
export function acceptedText(accepted: readonly string[]): string {
  const [first] = accepted;
  if (first === undefined) return 'no test lead was accepted';
  if (accepted.length === 1) return `1 test lead was accepted: ${first}`;
  const start = first.slice(0, first.lastIndexOf('-') + 1);
  return `${accepted.length} test leads were accepted: ${start}{${rangesText(accepted.map((id) => Number(id.slice(start.length))))}}`;
}

/** Three or more numbers in a row as `{5..9}`. */
function rangesText(numbers: readonly number[]): string {
  const rows: number[][] = [];
  for (const number of numbers) {
    const last = rows.at(-1);
    if (last?.at(-1) === number - 1) last.push(number);
    else rows.push([number]);
  }
  return rows
    .map((row) => (row.length < 3 ? row.join(',') : `{${row[0] ?? ''}..${row.at(-1) ?? ''}}`))
    .join(',');
}

/** Such as ` (1 must, 2 should)`. */
function levelsText({ reports }: Summary): string {
  const failed = reports.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.level);
  const texts = levels
    .map((level) => [level, failed.filter((one) => one === level).length] as const)
    .filter(([, count]) => count > 0)
    .map(([level, count]) => `${count} ${level}`);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

/** `--list`: what there is to be asked, one probe a line. */
export async function showCatalogue(
  probes: readonly Probe[],
  asJson: boolean,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<void> {
  const { stdout } = context;
  if (asJson) {
    const lines = probes.map((probe) => {
      const { name, rule, level, expected } = probe;
      return JSON.stringify({ name, group: groupOf(probe), rule: `specification ${rule}`, level, expected });
    });
    await write(stdout, `${lines.join('\n')}\n`);
    return;
  }
  const rows = probes.map(({ name, level, rule, expected }) => [name, level, rule, expected]);
  const { bold } = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  const table = renderTable(['NAME', 'LEVEL', 'SECTION', 'EXPECTED'], rows, {
    width,
    head: bold,
    whole: ['NAME', 'LEVEL'],
    narrowing: [{ drop: 'SECTION' }],
  });
  await write(stdout, table);
}
