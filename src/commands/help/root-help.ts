import { wrap } from '../../output/terminal/terminal.ts';
import type { ListedCommand } from '../flags/command-spec.ts';
import { type Flag, type Flags, flagTerm, globalFlags, immediateFlags } from '../flags/flag.ts';

/** The topics of `leads help TOPIC`; this help names them without loading them. */
export const topicNames = ['environment', 'exit-codes', 'dialect', 'schemes', 'targets'] as const;
export type TopicName = (typeof topicNames)[number];

/** Columns of a row before its summary: the group, a blank, and the longest name, `completion`. */
const groupWidth = 8;
const termWidth = groupWidth + 1 + 10;

export const programSummary = 'list, export and receive leads, and prove that none was lost';

/** All global flags, as every help shows them. A value is `NAME`, since with `<name>` they would not fit two lines of 80. */
export function globalFlagLines(width: number): string[] {
  const all: readonly [string, Flag][] = Object.entries<Flag>({ ...globalFlags, ...immediateFlags } as Flags);
  const terms = all.map(([key, flag]) =>
    flagTerm(key, flag).replace(/<(.+)>/, (_, name: string) => name.toUpperCase()),
  );
  return runningList('Everywhere:', terms, Math.min(width, 80));
}

/** `leads --help`: fits a screen of 24 lines with the prompt, and is drawn without loading any command. */
export function rootHelp(commands: readonly ListedCommand[], width: number): string {
  // The row of login says what logout does: one more would not fit.
  const listed = commands.filter(({ name }) => name !== 'logout');
  const rows = listed.map(({ name, group, summary: text }, i) => {
    const heading = listed[i - 1]?.group === group ? '' : group;
    return [`${heading.padEnd(groupWidth)} ${name}`, text] as const;
  });
  return [
    ...wrap(`leads <command>: ${programSummary}`, width),
    // Down to 12 columns a summary stays beside its name: below the name it would double the lines.
    ...twoColumns(rows, termWidth, width, 12),
    ...globalFlagLines(width),
    // The first topic stays on the line of `leads help`, which the others continue.
    ...runningList('More:', [`leads help <command>  ${topicNames[0]}`, ...topicNames.slice(1)], width),
    '',
  ].join('\n');
}

export type Row = readonly [term: string, text: string];

/** Writes terms on the left and texts on the right; where texts get less than `narrowest` columns, each is under its term. */
export function twoColumns(rows: readonly Row[], termWidth: number, width: number, narrowest = 30): string[] {
  const textWidth = width - termWidth - 4;
  if (textWidth < narrowest) {
    return rows.flatMap(([term, text]) => [
      `  ${term}`,
      ...(text === '' ? [] : wrap(text, width - 6).map((line) => `      ${line}`)),
    ]);
  }
  return rows.flatMap(([term, text]) =>
    wrap(text, textWidth).map((line, i) => `  ${(i === 0 ? term : '').padEnd(termWidth)}  ${line}`.trimEnd()),
  );
}

/** Writes a label, and behind it as many items as fit in each line. No item is broken. */
function runningList(label: string, items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = label;
  for (const item of items) {
    const hasItem = line.length > label.length;
    const isFull = hasItem && line.length + 2 + item.length > width;
    if (isFull) lines.push(line);
    const start = isFull ? ' '.repeat(label.length) : line;
    line = hasItem && !isFull ? `${start}  ${item}` : `${start} ${item}`;
  }
  return [...lines, line];
}

/** Breaks a command line before an option, a pipe or a redirection, with a backslash, so that it still runs as printed. */
export function shellLines(command: string, width: number): string[] {
  const prompt = '  $ ';
  const continuation = ' \\';
  const indent = '      ';
  const lines: string[] = [];
  let line = '';
  for (const part of command.split(/ (?=--?[a-z]|[|>])/)) {
    const longer = line === '' ? prompt + part : `${line} ${part}`;
    if (line !== '' && longer.length + continuation.length > width) {
      lines.push(line + continuation);
      line = indent + part;
    } else line = longer;
  }
  return [...lines, line];
}
