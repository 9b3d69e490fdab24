import type { Host } from '../host.ts';
import { write, writeJson } from './stdout.ts';
import {
  type Marks,
  marksFor,
  type Palette,
  paletteFor,
  sanitize,
  wrapWidth,
  wrap,
} from './terminal/terminal.ts';

type Outcome = keyof Marks;

/** The result of one check. Findings of one group are drawn together, and those that passed in one line. */
export interface Finding {
  readonly outcome: Outcome;
  readonly group: string;
  readonly name: string;
  readonly level: string;
  readonly expected: string;
  /** A sentence that says what was found, or why nothing was found. */
  readonly detail: string;
  /** Completes the sentence of a failure: ` after 3ms: {"status":500}`. */
  readonly evidence: string;
  readonly hint: string | null;
  /** A command that shows a failure; it is drawn on one line, so that it can be pasted. */
  readonly command: string | null;
  /** A failure of a level for which the user wants the command to fail. */
  readonly isReasonToFail: boolean;
  readonly ms: number;
  readonly record: object;
}

/** The result of a command that proves something, drawn as text, JSON and JUnit. Nothing in it is a secret. */
export interface Report {
  readonly title: string;
  readonly findings: readonly Finding[];
  readonly remarks: readonly string[];
  /** The sentence that a reader must not miss. */
  readonly conclusion: string;
  readonly isInOrder: boolean;
  readonly summary: object;
  readonly startedAt: number;
  readonly ms: number;
}

export type PrintContext = Pick<Host, 'stdout' | 'env'> & { readonly globals: { readonly color: boolean } };

/** Writes NDJSON: the record of each finding, and the summary as the last line. */
export async function printReportJson(
  { findings, summary }: Report,
  { stdout }: PrintContext,
): Promise<void> {
  for (const { record } of findings) await writeJson(stdout, record);
  await writeJson(stdout, summary);
}

/** Writes the findings group by group, the remarks, and the conclusion in its colour. */
export async function printReportText(report: Report, context: PrintContext): Promise<void> {
  const { stdout } = context;
  const style = await styleFor(context);
  const { colours } = style;
  const groups = groupedBy(report.findings, ({ group }) => group);
  const verdict = report.isInOrder ? colours.green : colours.red;
  const lines = [
    colours.bold(sanitize(report.title)),
    ...groups.flatMap((findings) => groupLines(findings, style)),
    '',
    ...report.remarks.flatMap((remark) => wrap(sanitize(remark), style.width)),
    ...wrap(report.conclusion, style.width).map((line) => verdict(line)),
  ];
  await write(stdout, `${lines.join('\n')}\n`);
}

export interface Style {
  readonly colours: Palette;
  readonly marks: Marks;
  readonly width: number;
}

export const styleFor = async (context: PrintContext): Promise<Style> => ({
  colours: await paletteFor(context.stdout, context),
  marks: marksFor(context),
  width: wrapWidth(context.stdout),
});

function groupLines(findings: readonly Finding[], style: Style): string[] {
  const { colours, marks } = style;
  const paint = { pass: colours.green, fail: colours.red, warn: colours.yellow, skip: colours.dim };
  const withOutcome = (outcome: Outcome): Finding[] =>
    findings.filter((finding) => finding.outcome === outcome);
  const joined = (outcome: Outcome, alike: readonly Finding[], suffix: string): string[] =>
    besideMark(
      paint[outcome](marks[outcome]),
      alike[0]?.group ?? '',
      `${alike.map(({ name }) => name).join(', ')}${suffix}`,
      style,
    );
  const joinedByDetail = (outcome: Outcome): string[] =>
    groupedBy(withOutcome(outcome), ({ detail }) => detail).flatMap((alike) => {
      const [{ detail, hint } = { detail: '', hint: null }] = alike;
      // A line has room for one hint only, which must belong to all of its findings.
      const isShared = alike.every((finding) => finding.hint === hint);
      return joined(outcome, alike, `: ${detail}${isShared && hint !== null ? `; ${hint}` : ''}`);
    });
  const passed = withOutcome('pass');
  return [
    ...(passed.length === 0 ? [] : joined('pass', passed, '')),
    ...withOutcome('fail').flatMap((finding) => failureLines(finding, style)),
    ...joinedByDetail('warn'),
    ...joinedByDetail('skip'),
  ];
}

/** Findings with the same key, in the order in which each key comes first. */
function groupedBy(findings: readonly Finding[], keyOf: (finding: Finding) => string): Finding[][] {
  const keys = [...new Set(findings.map(keyOf))];
  return keys.map((key) => findings.filter((finding) => keyOf(finding) === key));
}

const groupWidth = 11;

/** Lines with a mark, the name of a group, and a text that is wrapped beside them. */
export function besideMark(mark: string, group: string, text: string, { width, marks }: Style): string[] {
  const indent = marks.pass.length + 1 + groupWidth + 1;
  const [first = '', ...further] = wrap(sanitize(text), width - indent);
  return [
    `${mark} ${group.padEnd(groupWidth)} ${first}`,
    ...further.map((line) => `${' '.repeat(indent)}${line}`),
  ];
}

function failureLines(finding: Finding, { colours, marks, width }: Style): string[] {
  const { group, name, level, expected, detail, evidence, hint, command } = finding;
  const indent = ' '.repeat(marks.pass.length + 3);
  const inside = (text: string): string[] =>
    wrap(sanitize(text), width - indent.length).map((line) => indent + line);
  return [
    `${colours.red(marks.fail)} ${colours.bold(`${group}.${name}`)} (${level}): ${expected}`,
    ...inside(detail + evidence),
    ...(hint === null ? [] : inside(hint)),
    ...(command === null ? [] : [colours.dim(indent + sanitize(command))]),
  ];
}

/**
 * Returns the findings as tests for a CI server, in a JUnit file as Jenkins' xUnit plugin checks it (junit-10.xsd), and as
 * GitLab and GitHub's reporters read it: `testsuites` with one `testsuite`. A finding that must not stop a pipeline is a skipped
 * test, which says what was found. Characters that XML forbids, and controls that break its readers, become U+FFFD.
 */
export function junitDocument(name: string, { findings, startedAt, ms }: Report): string {
  const failures = findings.filter(({ isReasonToFail }) => isReasonToFail).length;
  const passes = findings.filter(({ outcome }) => outcome === 'pass').length;
  const totals = {
    name,
    tests: String(findings.length),
    failures: String(failures),
    errors: '0',
    time: seconds(ms),
  };
  const skipped = String(findings.length - failures - passes);
  const timestamp = new Date(startedAt).toISOString().replace(/\.\d+Z$/, '');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes(totals)}>`,
    `  <testsuite${attributes({ ...totals, skipped, timestamp })}>`,
    ...findings.map((finding) => testCase(name, finding)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** The class name is a dotted group such as `leads.check.body`, like a package and class of Java. */
function testCase(suiteName: string, finding: Finding): string {
  const { group, name, ms } = finding;
  const classname = `${suiteName.replaceAll(' ', '.')}.${group}`;
  const start = `    <testcase${attributes({ classname, name, time: seconds(ms) })}`;
  const content = testResult(finding);
  return content === undefined ? `${start}/>` : `${start}>\n      ${content}\n    </testcase>`;
}

/** The element inside a test that did not pass. Some readers of a failure show only its text, and others only the message. */
function testResult(finding: Finding): string | undefined {
  const { outcome, level, expected, detail, evidence, hint, command, isReasonToFail } = finding;
  if (isReasonToFail) {
    const message = `expected ${expected}; ${detail}`;
    const lines = [
      `expected: ${expected}`,
      `seen: ${detail}${evidence}`,
      `hint: ${hint ?? 'none'}`,
      command ?? '',
    ];
    return `<failure${attributes({ type: level, message })}>${escapeXml(lines.join('\n'))}</failure>`;
  }
  if (outcome === 'pass') return undefined;
  return `<skipped${attributes({ message: outcome === 'skip' ? detail : `${outcome}: ${detail}` })}/>`;
}

const seconds = (ms: number): string => (Math.max(0, ms) / 1000).toFixed(3);

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    // XML readers turn a plain line break in an attribute into a space.
    .map(([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;')}"`)
    .join('');

/** Characters that XML 1.0, section 2.2, forbids, and the controls C1 and DEL, which break some readers. */
const unusable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|[\ud800-\udfff]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
};

const escapeXml = (text: string): string =>
  text.replace(unusable, '\ufffd').replace(/[&<>"'\r]/g, (character) => entities[character] ?? '');
