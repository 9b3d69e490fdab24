import { parseArgs } from 'node:util';
import { checkOptions, type CommandSpec } from './commands/flags/command-spec.ts';
import {
  type Flag,
  flagName,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type OptionsOf,
  type TypedValues,
  type ValueFlag,
} from './commands/flags/flag.ts';
import { commandHelp, wholeHelp } from './commands/help/command-help.ts';
import { type TopicName, topicNames } from './commands/help/root-help.ts';
import { didYouMean } from './output/suggest.ts';
import type { Globals } from './config/settings.ts';
import type { Context, Outcome } from './context.ts';
import { UsageError } from './errors.ts';
import { commands, programHelp } from './program.ts';

const seeHelp = (path: string): string => `see 'leads ${path === '' ? '' : `${path} `}--help'`;

type NamedFlags = readonly (readonly [key: string, flag: Flag])[];

/** The request that a command line makes. */
export type Invocation =
  | { readonly kind: 'print'; readonly text: (width: number) => string }
  | {
      readonly kind: 'run';
      readonly globals: Globals;
      /** Whether a profile may be named that is not stored. */
      readonly allowsNewProfile: boolean;
      readonly run: (context: Context) => Promise<Outcome>;
    };

/** Turns words into the checked options of one command, loading no more than its flags. Throws a `UsageError`. */
export async function parseArgv(argv: readonly string[]): Promise<Invocation> {
  const isHelpAsked = argv.includes('--help') || argv.includes('-h');
  const words = isHelpAsked ? argv.filter((word) => word !== '--all') : argv;
  const first = takeCommand(words);
  const isHelp = first.name === 'help';
  if (isHelp && first.rest.includes('--json')) {
    return helpAsData(first.rest.filter((word) => word !== '--json'));
  }
  // `leads help list` is `leads list --help --all`.
  const { name, rest: further } = isHelp ? takeCommand([...first.rest, '--help']) : first;
  if (name === undefined) return withoutCommand(further);
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return topicOrError(name, isHelp);
  const isWhole = isHelp || words.length < argv.length;
  return parseCommand((await entry.load()).default, further, isWhole ? wholeHelp : commandHelp);
}

function withoutCommand(words: readonly string[]): Invocation {
  const root = { name: '', summary: '', arguments: {}, flags: {}, examples: [], subcommands: [] };
  const typed = parseWords({ spec: root, path: '', words });
  if (typed === 'version') return version;
  if (typed === 'help') return { kind: 'print', text: programHelp };
  throw new UsageError('no command is named', { hint: seeHelp('') });
}

/** `leads help --json [COMMAND …]` */
async function helpAsData(words: readonly string[]): Promise<Invocation> {
  const { name, rest: further } = takeCommand(words);
  const { describeProgram, describeCommand } = await import('./commands/help/help-data.ts');
  if (name === undefined) return printedJson(await describeProgram(commands));
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) {
    const { describeTopic } = await import('./commands/help/topics.ts');
    return printedJson(describeTopic(topicNamed(name)));
  }
  const { spec, path, words: unused } = followCommand((await entry.load()).default, further);
  const { name: excess } = takeCommand(unused);
  if (excess !== undefined) {
    throw new UsageError(`unexpected argument '${excess}'`, { hint: seeHelp(path) });
  }
  return printedJson(describeCommand(path, spec));
}

const printedJson = (data: object): Invocation => ({
  kind: 'print',
  text: () => `${JSON.stringify(data, null, 2)}\n`,
});

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
function ourName(name: string, path: string, children: readonly { readonly name: string }[]) {
  const words = otherNames.get(name)?.replace(path === '' ? '' : `${path} `, '');
  const isOurs = words !== undefined && children.some((child) => words.split(' ')[0] === child.name);
  if (!isOurs && words !== '--version') return undefined;
  return `it is '${['leads', path, words].filter((word) => word !== '').join(' ')}' here`;
}

function unknownCommand(name: string, further: readonly string[], hint: string): UsageError {
  const names = [...commands.map((command) => command.name), ...further];
  return new UsageError(`unknown command '${name}'`, {
    hint: ourName(name, '', commands) ?? didYouMean(name, names) ?? hint,
  });
}

async function topicOrError(name: string, isHelp: boolean): Promise<Invocation> {
  if (!isHelp) throw unknownCommand(name, [], seeHelp(''));
  if (LEADS_SINGLE_FILE && name === 'licences') {
    const { assetText } = await import('./files/embedded/asset.ts');
    return { kind: 'print', text: () => assetText('licences.txt') };
  }
  const topic = topicNamed(name);
  const { topicHelp } = await import('./commands/help/topics.ts');
  return { kind: 'print', text: (width) => topicHelp(topic, width) };
}

function topicNamed(name: string): TopicName {
  const topic = topicNames.find((candidate) => candidate === name);
  if (topic !== undefined) return topic;
  throw unknownCommand(name, topicNames, `help has the topics ${topicNames.join(', ')}`);
}

/** Follows the words into a group of commands, and checks the words that are left. */
export function parseCommand(
  group: CommandSpec,
  typedWords: readonly string[],
  help: typeof commandHelp = commandHelp,
): Invocation {
  const command = followCommand(group, typedWords);
  const { spec, path } = command;
  const typed = parseWords(command);
  if (typed === 'version') return version;
  const { prepare, allowsNewProfile = false } = spec;
  if (typed === 'help' || prepare === undefined) {
    return { kind: 'print', text: (width) => help(path, spec, width) };
  }
  const globals = checkOptions({ arguments: {}, flags: globalFlags }, typed) as OptionsOf<typeof globalFlags>;
  const withHint = (error: unknown): never => {
    if (!(error instanceof UsageError) || error.hint !== undefined) throw error;
    throw new UsageError(error.message, { ...error.details, hint: seeHelp(path), cause: error });
  };
  try {
    const run = prepare(typed);
    return { kind: 'run', globals, allowsNewProfile, run: (context) => run(context).catch(withHint) };
  } catch (error) {
    return withHint(error);
  }
}

interface NamedCommand {
  readonly spec: CommandSpec;
  /** The whole name, such as `config set`. */
  readonly path: string;
  /** The words without it. */
  readonly words: readonly string[];
}

function followCommand(spec: CommandSpec, words: readonly string[], path = spec.name): NamedCommand {
  const { subcommands, prepare } = spec;
  const isChild = subcommands.some(({ name }) => name === words[0]);
  if (!isChild && (subcommands.length === 0 || prepare !== undefined)) return { spec, path, words };
  const { name, rest: further } = takeCommand(words);
  if (name === undefined) return { spec, path, words };
  const child = subcommands.find((candidate) => candidate.name === name);
  if (child !== undefined) return followCommand(child, further, `${path} ${name}`);
  const names = subcommands.map((candidate) => candidate.name);
  throw new UsageError(`unknown command '${path} ${name}'`, {
    hint: ourName(name, path, subcommands) ?? didYouMean(name, names) ?? seeHelp(path),
  });
}

const version: Invocation = { kind: 'print', text: () => `${LEADS_VERSION}\n` };

/** Sorts words into the command's arguments and flags and the global flags, by name, unchecked. */
function parseWords(command: NamedCommand): TypedValues | 'help' | 'version' {
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
const splitWords = (words: readonly string[], flags: NamedFlags) =>
  parseArgs({
    args: [...words],
    options: Object.fromEntries(
      flags.flatMap(([key, flag]) => namesOf(key, flag).map((name) => [name, optionOf(flag)])),
    ),
    strict: false,
    tokens: true,
  });

/** The names of a flag, as they are typed behind `--`. */
const namesOf = (key: string, flag: Flag): readonly string[] =>
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

function unknownFlag(typed: string, flags: NamedFlags, otherwise: string): UsageError {
  const names = flags.map(([key, flag]) => longName(key, flag));
  return new UsageError(`unknown option '${typed}'`, { hint: didYouMean(typed, names) ?? otherwise });
}

/**
 * Gives the first word that is neither a global flag nor its value, and the other words: global flags stand before or after
 * it. Throws a `UsageError` for any other flag before it.
 */
function takeCommand(words: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...immediateFlags });
  for (const token of splitWords(words, flags).tokens) {
    if (token.kind === 'positional') return { name: token.value, rest: words.toSpliced(token.index, 1) };
    if (token.kind !== 'option' || flags.some((entry) => namesOf(...entry).includes(token.name))) continue;
    throw unknownFlag(
      token.rawName,
      flags,
      "the flags of a command stand after its name; see 'leads --help'",
    );
  }
  return { name: undefined, rest: words };
}
