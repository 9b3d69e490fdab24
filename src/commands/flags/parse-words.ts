import { parseArgs } from 'node:util';
import { UsageError } from '../../errors.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { CommandSpec } from './command-spec.ts';
import {
  type Flag,
  flagName,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type TypedValues,
  type ValueFlag,
} from './flag.ts';

/** A command and the words that are typed behind its name. */
export interface NamedCommand {
  readonly spec: CommandSpec;
  /** The whole name, such as `config set`. */
  readonly path: string;
  /** The words without it. */
  readonly words: readonly string[];
}

export type NamedFlags = readonly (readonly [key: string, flag: Flag])[];

/** Sorts words into the command's arguments and flags and the global flags, by name, unchecked. */
export function parseWords(command: NamedCommand): TypedValues | 'help' | 'version' {
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...command.spec.flags, ...immediateFlags });
  const { tokens, positionals } = splitWords(withJoinedValues(command.words, flags), flags);
  const options = tokens.filter((token) => token.kind === 'option');
  for (const immediate of ['version', 'help'] as const) {
    if (options.some(({ name }) => name === immediate)) return immediate;
  }
  const hint = seeHelp(command.path);
  const values: Record<string, unknown> = {};
  for (const { name, rawName, value } of options) {
    const [key = '', flag] = flags.find((entry) => namesOf(...entry).includes(name)) ?? [];
    if (flag === undefined) throw unknownFlag(rawName, flags, hint);
    if (!isSwitch(flag)) {
      values[key] = addedValue([key, flag], value ?? flag.bare, values[key], hint);
    } else if (value === undefined) values[key] = name !== `no-${flagName(key)}`;
    else throw unknownFlag(`${rawName}=${value}`, flags, hint);
  }
  return { ...values, ...namedOperands(positionals, command) };
}

/** Splits words into flags, their values, and other words; flags that are not declared are among them. */
export const splitWords = (words: readonly string[], flags: NamedFlags) =>
  parseArgs({
    args: [...words],
    options: Object.fromEntries(
      flags.flatMap(([key, flag]) => namesOf(key, flag).map((name) => [name, optionOf(flag)])),
    ),
    strict: false,
    tokens: true,
  });

/** The names of a flag, as they are typed behind `--`. */
export const namesOf = (key: string, flag: Flag): readonly string[] =>
  isSwitch(flag) && flag.eitherWay === true
    ? [flagName(key), `no-${flagName(key)}`]
    : [longName(key, flag).slice(2)];

const optionOf = (flag: Flag) => ({
  type: isSwitch(flag) || flag.bare !== undefined ? ('boolean' as const) : ('string' as const),
  ...(flag.short !== undefined && { short: flag.short }),
});

/** `--watch 5s` as `--watch=5s`: a flag that may stand alone takes the next word, unless that is a flag. */
function withJoinedValues(words: readonly string[], flags: NamedFlags): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    const [, flag] = flags.find(([key, candidate]) => longName(key, candidate) === before) ?? [];
    const takesWord =
      flag !== undefined && !isSwitch(flag) && flag.bare !== undefined && flag.joined !== true;
    if (takesWord && !/^-./.test(word)) joined.splice(-1, 1, `${before ?? ''}=${word}`);
    else joined.push(word);
  }
  return joined;
}

/** The value of a flag together with those that were typed before. `hint`: for a value that is missing. */
function addedValue(
  [key, flag]: readonly [key: string, flag: ValueFlag<unknown>],
  value: string | undefined,
  before: unknown,
  hint: string,
): unknown {
  if (value === undefined) {
    const term = flagTerm(key, { ...flag, short: undefined });
    throw new UsageError(`${term}: the value is missing`, { hint });
  }
  if (flag.repeatable === true) return [...((before ?? []) as readonly string[]), value];
  if (before === undefined || before === value) return value;
  throw new UsageError(`${longName(key, flag)} is given two values`, { hint: 'leave one of them out' });
}

function namedOperands(operands: readonly string[], command: NamedCommand): TypedValues {
  const args = Object.entries(command.spec.arguments);
  const missing = args.find(([, { optional }], i) => optional !== true && operands[i] === undefined);
  if (missing !== undefined) {
    throw new UsageError(`missing required argument '${missing[0]}'`, { hint: seeHelp(command.path) });
  }
  const excess = operands[args.length];
  if (excess !== undefined && args.at(-1)?.[1].repeatable !== true) throw unexpectedWord(excess, command);
  return Object.fromEntries(
    args.map(([name, { repeatable }], i) => [name, repeatable === true ? operands.slice(i) : operands[i]]),
  );
}

function unexpectedWord(word: string, { spec, path, words }: NamedCommand): UsageError {
  const isFields = 'fields' in spec.flags && words[words.indexOf(word) - 1] === '--json';
  const fieldsHint = isFields ? `fields are named by --fields: --json --fields ${word}` : undefined;
  return new UsageError(`unexpected argument '${word}'`, {
    hint: fieldsHint ?? ourName(word, path, spec.subcommands) ?? seeHelp(path),
  });
}

export function unknownFlag(typed: string, flags: NamedFlags, otherwise: string): UsageError {
  const names = flags.map(([key, flag]) => longName(key, flag));
  return new UsageError(`unknown option '${typed}'`, { hint: didYouMean(typed, names) ?? otherwise });
}

export const seeHelp = (path: string): string => `see 'leads ${path === '' ? '' : `${path} `}--help'`;

/** Names that other tools have for our commands. */
const otherNames = new Map([
  ['version', '--version'],
  ['ls', 'list'],
  ['replay', 'inbox retry'],
  ['resend', 'inbox retry'],
  ['trigger', 'send'],
  ['auth', 'login'],
  ['logs', 'inbox list'],
  ['events', 'inbox list'],
  ['delete', 'inbox erase'],
  ['rm', 'remove'],
]);

/** Says how a command of that name, below `path`, is called here. */
export function ourName(name: string, path: string, children: readonly { readonly name: string }[]) {
  const words = otherNames.get(name)?.replace(path === '' ? '' : `${path} `, '');
  const isOurs = words !== undefined && children.some((child) => words.split(' ')[0] === child.name);
  if (!isOurs && words !== '--version') return undefined;
  return `it is '${['leads', path, words].filter((word) => word !== '').join(' ')}' here`;
}
