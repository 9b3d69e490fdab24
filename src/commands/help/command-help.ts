import type { CommandSpec } from '../flags/command-spec.ts';
import { argumentTerm, type Flag, flagTerm, isSwitch } from '../flags/flag.ts';
import { shellLines, twoColumns, wrap } from './layout.ts';
import { globalFlagLines } from './root-help.ts';

type Row = readonly [term: string, text: string];
interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** `leads COMMAND --help`: `path` is the command's whole name, `width` the columns of the terminal. */
export function commandHelp(path: string, spec: CommandSpec, width: number): string {
  const sections = [...ownSections(spec), ...flagSections(spec)];
  const terms = sections.flatMap(({ rows }) => rows.map(([term]) => term.length));
  const termWidth = Math.max(0, ...terms);
  const parts = [
    [`Usage: ${usage(path, spec)}`],
    wrap(spec.description ?? sentence(spec.summary), width),
    ...sections.map(({ title, rows }) => [`${title}:`, ...twoColumns(rows, termWidth, width)]),
    ...listing(spec, width),
    globalFlagLines(width),
    ['Examples:', ...spec.examples.flatMap((line) => shellLines(line, width))],
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function ownSections(spec: CommandSpec): Section[] {
  const args = Object.entries(spec.arguments).map(([name, { help }]): Row => [name, help]);
  const commands = spec.subcommands.map(({ name, arguments: its, summary }): Row => {
    const words = Object.entries(its).map(([word, argument]) => argumentTerm(word, argument));
    return [[name, ...words].join(' '), summary];
  });
  return [
    { title: 'Arguments', rows: args },
    { title: 'Commands', rows: commands },
  ].filter(({ rows }) => rows.length > 0);
}

/** Groups in the order of their first flag. */
function flagSections({ flags }: CommandSpec): Section[] {
  const groups = new Map<string, Row[]>();
  for (const [key, flag] of Object.entries(flags)) {
    const title = flag.group ?? 'Options';
    groups.set(title, [...(groups.get(title) ?? []), [flagTerm(key, flag), flagText(flag)]]);
  }
  return [...groups].map(([title, rows]) => ({ title, rows }));
}

function listing({ listing: list }: CommandSpec, width: number): string[][] {
  if (list === undefined) return [];
  const termWidth = Math.max(...list.rows.map(([term]) => term.length));
  return [[`${list.title}:`, ...twoColumns(list.rows, termWidth, width)]];
}

/** `leads inbox show [id] [flags]`: `path` is the command's whole name. */
export function usage(path: string, spec: CommandSpec): string {
  const words = Object.entries(spec.arguments).map(([name, argument]) => argumentTerm(name, argument));
  if (spec.subcommands.length > 0) words.push('<command>');
  return ['leads', path, ...words, '[flags]'].join(' ');
}

/** Meaning, choices, and in parentheses whether it repeats and what holds without it. */
export function flagText(flag: Flag): string {
  const help = flag.help ?? '';
  if (isSwitch(flag)) return help;
  const choices = listed(flag.choicesShown === false ? [] : (flag.type.choices ?? []));
  const fallback = flag.default ?? flag.otherwise;
  const notes = [
    flag.repeatable === true ? 'repeatable' : undefined,
    flag.bare === undefined ? undefined : `alone: ${flag.bare}`,
    fallback === undefined ? undefined : `default: ${fallback}`,
  ].filter((note) => note !== undefined);
  const text = [help, choices].filter((part) => part !== '').join(': ');
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}

const listed = (choices: readonly string[]): string =>
  choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;
