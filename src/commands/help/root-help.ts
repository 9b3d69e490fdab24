import type { ListedCommand } from '../flags/command-spec.ts';
import { type Flag, type Flags, flagTerm, globalFlags, immediateFlags } from '../flags/flag.ts';
import { wrap } from '../../output/terminal/terminal.ts';
import { runningList, twoColumns } from './layout.ts';

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
