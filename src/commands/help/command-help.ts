import type { CommandSpec } from '../flags/command-spec.ts';
import {
  argumentTerm,
  type Flag,
  type Flags,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  orList,
  type ValueFlag,
} from '../flags/flag.ts';
import { wrap } from '../../output/terminal/terminal.ts';
import { shellLines, twoColumns } from './layout.ts';
import { globalFlagLines } from './root-help.ts';

type Row = readonly [term: string, text: string];
interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Lines of a terminal without the prompt. */
const screen = 23;

/** `leads help COMMAND`: everything. `path` is the command's whole name, `width` the columns of the terminal. */
export function wholeHelp(path: string, spec: CommandSpec, width: number): string {
  const globals = { title: 'Everywhere', rows: flagRows({ ...globalFlags, ...immediateFlags }) };
  return joined([
    ...heading(path, spec, width),
    ...drawn([...ownSections(spec), ...flagSections(spec)], width),
    ...listing(spec, width),
    ...drawn([globals], width),
    examples(spec.examples, width),
  ]);
}

/** `leads COMMAND --help`: all flags where they fit a screen, else those of every day, and two examples. */
export function commandHelp(path: string, spec: CommandSpec, width: number): string {
  const whole = joined([
    ...heading(path, spec, width),
    ...drawn([...ownSections(spec), ...flagSections(spec)], width),
    ...listing(spec, width),
    globalFlagLines(width),
    examples(spec.examples, width),
  ]);
  if (whole.split('\n').length <= screen + 1) return whole;
  const everyday = Object.fromEntries(
    (spec.everyday ?? []).flatMap((key) => {
      const flag = spec.flags[key];
      return flag === undefined ? [] : [[key, flag]];
    }),
  );
  const rows = [...ownSections(spec).flatMap((section) => section.rows), ...flagRows(everyday, briefText)];
  const [description = ''] = (spec.description ?? '').split('\n');
  return joined([
    ...heading(path, { ...spec, description }, width),
    ...drawn([{ title: 'Most used', rows }], width),
    [...wrap(`All of it:  leads help ${path}, or --help --all`, width), ...globalFlagLines(width)],
    examples(spec.examples.slice(0, 2), width),
  ]);
}

const joined = (parts: readonly (readonly string[])[]): string =>
  `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;

const heading = (path: string, spec: CommandSpec, width: number): string[][] => [
  [`Usage: ${usage(path, spec)}`],
  wrap(spec.description ?? sentence(spec.summary), width),
];

function drawn(sections: readonly Section[], width: number): string[][] {
  const terms = sections.flatMap(({ rows }) => rows.map(([term]) => term.length));
  const termWidth = Math.max(0, ...terms);
  return sections.map(({ title, rows }) => [`${title}:`, ...twoColumns(rows, termWidth, width)]);
}

const examples = (lines: readonly string[], width: number): string[] => [
  'Examples:',
  ...lines.flatMap((line) => shellLines(line, width)),
];

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
  const all = Object.entries(flags);
  const titleOf = ([, flag]: readonly [string, Flag]): string => flag.group ?? 'Options';
  return [...new Set(all.map(titleOf))].map((title) => {
    const members = all.filter((entry) => titleOf(entry) === title);
    return { title, rows: flagRows(Object.fromEntries(members)) };
  });
}

const flagRows = (flags: Flags, textOf = flagText): Row[] =>
  Object.entries(flags).map(([key, flag]) => [flagTerm(key, flag), textOf(flag)]);

/** The text before the first semicolon, the choices and the default. */
const briefText = ({ with: _, without: _excluded, ...flag }: Flag): string =>
  flagText({ ...flag, help: flag.help?.split(';')[0], repeatable: undefined });

function listing({ listing: list }: CommandSpec, width: number): string[][] {
  if (list === undefined) return [];
  const termWidth = Math.max(...list.rows.map(([term]) => term.length));
  return [[`${list.title}:`, ...twoColumns(list.rows, termWidth, width)]];
}

/** `leads inbox show [id] [flags]`: `path` is the command's whole name. */
export function usage(path: string, spec: CommandSpec): string {
  const words = Object.entries(spec.arguments).map(([name, argument]) => argumentTerm(name, argument));
  if (spec.subcommands.length > 0) words.push(spec.prepare === undefined ? '<command>' : '[command]');
  return ['leads', path, ...words, '[flags]'].join(' ');
}

/** Meaning and choices, and in parentheses whether it repeats, its default, and the flags that it needs and excludes. */
export function flagText(flag: Flag): string {
  const { help = '', with: needed = [], without = [] } = flag;
  const valued: Partial<ValueFlag<unknown>> = isSwitch(flag) ? {} : flag;
  const choices = orList(valued.choicesShown === false ? [] : (valued.type?.choices ?? []));
  const fallback = valued.default ?? valued.otherwise;
  const notes = [
    ...(valued.repeatable === true ? ['repeatable'] : []),
    ...(valued.bare === undefined ? [] : [`alone: ${valued.bare}`]),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
    ...needed.map((words) => `needs ${orList(words.split(' | '))}`),
    ...(without.length === 0 ? [] : [`not with ${orList(without)}`]),
  ];
  const text = [help, choices].filter((part) => part !== '').join(': ');
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}
