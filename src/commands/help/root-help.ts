import type { ListedCommand } from '../flags/command-spec.ts';
import { type Flag, type Flags, flagTerm, globalFlags, immediateFlags } from '../flags/flag.ts';
import { wrap } from '../../output/wrap.ts';
import { runningList, twoColumns } from './layout.ts';

/** The topics of `leads help TOPIC`; this help names them without loading them. */
export const topicNames = ['environment', 'exit-codes', 'dialect', 'schemes', 'targets'] as const;
export type TopicName = (typeof topicNames)[number];

const termWidth = 19;

export const programSummary = 'list, export and receive leads, and prove that none was lost';

/** The global flags, as every help shows them: all of them in two lines of 80 columns. */
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
    return [`${heading.padEnd(8)} ${name}`, text] as const;
  });
  return [
    ...wrap(`leads <command>: ${programSummary}`, width),
    ...twoColumns(rows, termWidth, width, 12),
    ...globalFlagLines(width),
    ...runningList('More:', [`leads help <command>  ${topicNames[0]}`, ...topicNames.slice(1)], width),
    '',
  ].join('\n');
}
