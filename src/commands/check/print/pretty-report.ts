import { groupOf, levels, type Probe } from '../../../check/check-probe.ts';
import { sanitize } from '../../../output/sanitize.ts';
import type { Palette } from '../../../output/terminal/colour.ts';
import type { Marks } from '../../../output/terminal/marks.ts';
import { formatDuration } from '../../../time/duration.ts';
import { wrap } from '../../help/layout.ts';
import type { Summary } from '../summarize.ts';
import type { DescribedReport } from './described-report.ts';

interface Style {
  readonly colours: Palette;
  readonly marks: Marks;
  /** Columns of the terminal. */
  readonly width: number;
}

/** Of the names of groups, in columns. */
const groupWidth = 11;

interface WaitingGroup {
  readonly group: string;
  readonly names: readonly string[];
  readonly left: Set<string>;
  readonly reports: DescribedReport[];
}

/** Collects reports, and gives each group as text once it and all before it are complete. */
export class PrettyGroups {
  readonly #style: Style;
  readonly #waiting: WaitingGroup[];

  constructor(probes: readonly Probe[], style: Style) {
    this.#style = style;
    const groups = [...new Set(probes.map(groupOf))];
    this.#waiting = groups.map((group) => {
      const names = probes.filter((probe) => groupOf(probe) === group).map(({ name }) => name);
      return { group, names, left: new Set(names), reports: [] };
    });
  }

  /** What can be shown now that this report is there; perhaps nothing. */
  add(report: DescribedReport): string {
    const own = this.#waiting.find(({ group }) => group === report.group);
    own?.reports.push(report);
    own?.left.delete(report.name);
    let text = '';
    for (let next = this.#waiting[0]; next?.left.size === 0; next = this.#waiting[0]) {
      const { group, names, reports } = next;
      this.#waiting.shift();
      const inOrder = reports.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
      text += groupText(group, inOrder, this.#style);
    }
    return text;
  }
}

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
export function summaryLines(summary: Summary, colours: Palette, width: number): string[] {
  const { counts, cut, accepted, healed, ms } = summary;
  const verdict = summary.isInOrder ? colours.green : colours.red;
  const warnings = `${counts.warn} warning${counts.warn === 1 ? '' : 's'}`;
  const counted = `${counts.pass} passed, ${counts.fail} failed${levelsText(summary)}, ${warnings}, ${counts.skip} skipped in ${formatDuration(ms)}`;
  return [
    '',
    ...wrap(counted, width).map(verdict),
    ...(cut.length === 0
      ? []
      : wrap(`the receiver took so long that ${cut.length} probes did not run`, width)),
    ...(healed.length === 0 ? [] : wrap(`pass now, and are in the baseline: ${healed.join(', ')}`, width)),
    ...wrap(acceptedText(accepted), width),
  ];
}

/** In the form in which a shell writes them out: `leads-check-k3f9x2-{1,2,5}`. */
export function acceptedText(accepted: readonly string[]): string {
  const [first] = accepted;
  if (first === undefined) return 'no test lead was accepted';
  if (accepted.length === 1) return `1 test lead was accepted: ${first}`;
  const start = first.slice(0, first.lastIndexOf('-') + 1);
  return `${accepted.length} test leads were accepted: ${start}{${accepted.map((id) => id.slice(start.length)).join(',')}}`;
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
