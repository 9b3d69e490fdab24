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
import { globalFlagLines, type Row, shellLines, twoColumns } from './root-help.ts';

interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The lines of a usual terminal without the prompt. */
const screenLines = 23;

/** `leads help COMMAND`: everything. `path` is the command's whole name, `width` the columns of the terminal. */
export function wholeHelp(path: string, spec: CommandSpec, width: number): string {
  const globals = { title: 'Everywhere', rows: flagRows({ ...globalFlags, ...immediateFlags }) };
  return joinParts([
    ...partsBeforeGlobals(path, spec, width),
    ...drawSections([globals], width),
    exampleLines(spec.examples, width),
  ]);
}

/** `leads COMMAND --help`: all flags where they fit a screen, else those of every day, and two examples. */
export function commandHelp(path: string, spec: CommandSpec, width: number): string {
  const whole = joinParts([
    ...partsBeforeGlobals(path, spec, width),
    globalFlagLines(width),
    exampleLines(spec.examples, width),
  ]);
  // The last line break begins no line.
  if (whole.split('\n').length - 1 <= screenLines) return whole;
  const all = Object.entries(spec.flags);
  const everyday = (spec.everyday ?? []).flatMap((key) => all.filter(([name]) => name === key));
  const rows = [
    ...ownSections(spec).flatMap((section) => section.rows),
    ...flagRows(Object.fromEntries(everyday), briefText),
  ];
  const [description = ''] = (spec.description ?? '').split('\n');
  return joinParts([
    ...heading(path, { ...spec, description }, width),
    ...drawSections([{ title: 'Most used', rows }], width),
    [...wrap(`All of it:  leads help ${path}, or --help --all`, width), ...globalFlagLines(width)],
    exampleLines(spec.examples.slice(0, 2), width),
  ]);
}

const partsBeforeGlobals = (path: string, spec: CommandSpec, width: number): string[][] => [
  ...heading(path, spec, width),
  ...drawSections([...ownSections(spec), ...flagSections(spec)], width),
  ...drawSections(spec.listing === undefined ? [] : [spec.listing], width),
];

/** A part is some lines; an empty line is between two parts. */
const joinParts = (parts: readonly (readonly string[])[]): string =>
  `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;

const heading = (path: string, spec: CommandSpec, width: number): string[][] => [
  [`Usage: ${usage(path, spec)}`],
  wrap(spec.description ?? `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`, width),
];

/** Draws tables whose columns line up. */
function drawSections(sections: readonly Section[], width: number): string[][] {
  const terms = sections.flatMap(({ rows }) => rows.map(([term]) => term.length));
  const termWidth = Math.max(0, ...terms);
  return sections.map(({ title, rows }) => [`${title}:`, ...twoColumns(rows, termWidth, width)]);
}

const exampleLines = (lines: readonly string[], width: number): string[] => [
  'Examples:',
  ...lines.flatMap((line) => shellLines(line, width)),
];

function ownSections(spec: CommandSpec): Section[] {
  const args = Object.entries(spec.arguments).map(([name, { help }]): Row => [name, help]);
  const commands = spec.subcommands.map((child): Row => [
    [child.name, ...argumentTerms(child)].join(' '),
    child.summary,
  ]);
  return [
    { title: 'Arguments', rows: args },
    { title: 'Commands', rows: commands },
  ].filter(({ rows }) => rows.length > 0);
}

/** A section for each group of flags, in the order in which the groups first appear. */
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

/** The help of a flag up to its first semicolon, with its choices and its default. */
const briefText = ({ with: _, without: _excluded, ...flag }: Flag): string =>
  flagText({ ...flag, help: flag.help?.split(';')[0], repeatable: undefined });

/** `leads inbox show [id] [flags]`: `path` is the command's whole name. */
export function usage(path: string, spec: CommandSpec): string {
  const words = argumentTerms(spec);
  if (spec.subcommands.length > 0) words.push(spec.prepare === undefined ? '<command>' : '[command]');
  return ['leads', path, ...words, '[flags]'].join(' ');
}

const argumentTerms = (spec: CommandSpec): string[] =>
  Object.entries(spec.arguments).map(([name, argument]) => argumentTerm(name, argument));

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
