import { Command, CommanderError, Option } from 'commander';
import { checkOptions, type CommandSpec } from './commands/flags/command-spec.ts';
import {
  argumentTerm,
  type Flag,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type OptionsOf,
  type TypedValues,
} from './commands/flags/flag.ts';
import { commandHelp, wholeHelp } from './commands/help/command-help.ts';
import { topicNames } from './commands/help/root-help.ts';
import type { Globals } from './config/load-settings.ts';
import type { Context, Outcome } from './context.ts';
import { UsageError } from './errors.ts';
import { didYouMean, nearest } from './output/suggest.ts';
import { commands, programHelp } from './program.ts';

/** The text to print, or the command to run, that a command line asks for. */
export type Invocation =
  | { readonly kind: 'print'; readonly text: (width: number) => string }
  | {
      readonly kind: 'run';
      readonly globals: Globals;
      /** Whether `--profile` may name a profile that is not stored. */
      readonly allowsNewProfile: boolean;
      readonly run: (context: Context) => Promise<Outcome>;
    };

/** Turns words into the checked options of one command, loading no more than its flags. Throws a `UsageError`. */
export async function parseArgv(argv: readonly string[]): Promise<Invocation> {
  const hasHelpFlag = argv.includes('--help') || argv.includes('-h');
  const words = hasHelpFlag ? argv.filter((word) => word !== '--all') : argv;
  const hasAllFlag = words.length < argv.length;
  const first = splitCommandName(words);
  const isHelpCommand = first.name === 'help';
  if (isHelpCommand && first.words.includes('--json')) {
    return helpAsData(first.words.filter((word) => word !== '--json'));
  }
  // `leads help list` is `leads list --help --all`.
  const { name, words: further } = isHelpCommand ? splitCommandName([...first.words, '--help']) : first;
  if (name === undefined) return withoutCommand(further);
  const listed = commands.find((command) => command.name === name);
  if (listed === undefined) return topicOrError(name, isHelpCommand);
  const help = isHelpCommand || hasAllFlag ? wholeHelp : commandHelp;
  return parseCommand((await listed.load()).default, further, help);
}

function withoutCommand(words: readonly string[]): Invocation {
  const root = { name: '', summary: '', arguments: {}, flags: {}, examples: [], subcommands: [] };
  const typed = parseWords({ spec: root, path: '', words });
  if (typed === 'version') return version;
  if (typed === 'help') return { kind: 'print', text: programHelp };
  throw new UsageError('no command is named', { hint: seeHelp('') });
}

async function helpAsData(words: readonly string[]): Promise<Invocation> {
  const { name: excess } = splitCommandName(words);
  if (excess !== undefined) {
    throw new UsageError(`unexpected argument '${excess}'`, {
      hint: "'leads help --json' is about all commands",
    });
  }
  const { describeProgram } = await import('./commands/help/help-data.ts');
  const data = await describeProgram(commands);
  return { kind: 'print', text: () => `${JSON.stringify(data, null, 2)}\n` };
}

function unknownCommand(
  name: string,
  path: string,
  children: readonly { readonly name: string }[],
  hint = seeHelp(path),
): UsageError {
  const names = children.map((child) => child.name);
  return new UsageError(`unknown command '${below(path, name)}'`, {
    hint: hintForForeignName(name, path, children) ?? didYouMean(name, names) ?? hint,
  });
}

async function topicOrError(name: string, isHelpCommand: boolean): Promise<Invocation> {
  if (!isHelpCommand) throw unknownCommand(name, '', commands);
  if (LEADS_SINGLE_FILE && name === 'licences') {
    const { assetText } = await import('./files/embedded/asset.ts');
    return { kind: 'print', text: () => assetText('licences.txt') };
  }
  const topic = topicNames.find((candidate) => candidate === name);
  if (topic === undefined) {
    const candidates = [...commands, ...topicNames.map((topicName) => ({ name: topicName }))];
    throw unknownCommand(name, '', candidates, `help has the topics ${topicNames.join(', ')}`);
  }
  const { topicHelp } = await import('./commands/help/topics.ts');
  return { kind: 'print', text: (width) => topicHelp(topic, width) };
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

function followCommand(spec: CommandSpec, words: readonly string[], path = spec.name): NamedCommand {
  const { subcommands, prepare } = spec;
  const isChild = subcommands.some(({ name }) => name === words[0]);
  if (!isChild && (subcommands.length === 0 || prepare !== undefined)) return { spec, path, words };
  const { name, words: further } = splitCommandName(words);
  if (name === undefined) return { spec, path, words };
  const child = subcommands.find((candidate) => candidate.name === name);
  if (child !== undefined) return followCommand(child, further, `${path} ${name}`);
  throw unknownCommand(name, path, subcommands);
}

const version: Invocation = { kind: 'print', text: () => `${LEADS_VERSION}\n` };

/** A command and the words that are typed behind its name. */
interface NamedCommand {
  readonly spec: CommandSpec;
  /** The whole name, such as `config set`. */
  readonly path: string;
  /** The words without it. */
  readonly words: readonly string[];
}

type NamedFlags = readonly (readonly [key: string, flag: Flag])[];

/**
 * Sorts words into the command's arguments and flags and the global flags, by name, unchecked. Commander does the parsing; its
 * output and its exits are switched off, and its errors become a `UsageError` with a hint.
 */
function parseWords(command: NamedCommand): TypedValues | 'help' | 'version' {
  const { spec, path, words } = command;
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...spec.flags });
  const args = Object.entries(spec.arguments);
  const parser = new Command(path)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .configureHelp({ formatHelp: () => '' })
    .showSuggestionAfterError(false)
    .version('', flagTerm('version', immediateFlags.version))
    .helpOption(flagTerm('help', immediateFlags.help));
  for (const [name, argument] of args) parser.argument(argumentTerm(name, argument));
  for (const [key, flag] of flags) parser.addOption(optionFor(key, flag));
  rejectPastedDash(words, parser.options);
  rejectFieldsAsText(command);
  try {
    parser.parse(withJoinedValues(words, [...flags, ...Object.entries(immediateFlags)]), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return 'version';
    if (error.code === 'commander.helpDisplayed') return 'help';
    if (error.code === 'commander.excessArguments') {
      throw unexpectedWord(parser.args[args.length] ?? '', command, error);
    }
    throw usageError(error, path, flags);
  }
  const operands = args.map(([name, { repeatable }], i) => [
    name,
    repeatable === true ? parser.args.slice(i) : parser.args[i],
  ]);
  return { ...parser.opts(), ...(Object.fromEntries(operands) as TypedValues) };
}

/** Editors and web pages turn hyphens into dashes, and a flag that was copied from there would be searched for as a text. */
function rejectPastedDash(words: readonly string[], options: readonly Option[]): void {
  for (const word of words) {
    if (word === '--') return;
    const [, name = ''] = /^-?[\u2010-\u2015\u2212]+-?([^=]+)/.exec(word) ?? [];
    const flag = options.find(({ long, short }) => long === `--${name}` || short === `-${name}`);
    if (flag === undefined) continue;
    const hint = `did you mean '${name.length === 1 ? '-' : '--'}${name}'?`;
    throw new UsageError(`'${word}' begins with a dash that is no hyphen`, { hint });
  }
}

/**
 * `--dry-run URL` as `--dry-run=curl URL`, since commander would take the URL for the flag's value. Throws a `UsageError` where a
 * flag stands in the place of a value, as it does behind a variable of the shell that is empty: commander would take it, too.
 */
function withJoinedValues(words: readonly string[], flags: NamedFlags): string[] {
  return words.map((word, i) => {
    const [key = '', flag] = flagNamedBy(word, flags) ?? [];
    if (flag === undefined || words.slice(0, i).includes('--')) return word;
    const [, letter] = /^-(\w)=/.exec(word) ?? [];
    if (letter !== undefined)
      throw new UsageError(`-${letter}= is no flag`, { hint: `write -${letter} VALUE, without =` });
    if (isSwitch(flag) || word.includes('=')) return word;
    if (flag.joined === true) return `${word}=${flag.bare ?? ''}`;
    const [next = ''] = words[i + 1]?.split('=') ?? [];
    if (flag.bare !== undefined || (next !== '--' && !flagNamedBy(next, flags))) return word;
    const hint = `to give ${next} as the value, write ${longName(key, flag)}=${next}`;
    throw new UsageError(`${longName(key, flag)} <${flag.value}>: the value is missing`, { hint });
  });
}

/** Finds the flag of `--limit`, `--limit=5`, `-n` or, of joined letters such as `-qn`, the last. */
function flagNamedBy(word: string, flags: NamedFlags): NamedFlags[number] | undefined {
  if (!word.startsWith('-')) return undefined;
  const switches = flags.flatMap(([, flag]) => (isSwitch(flag) && flag.short) || []).join('');
  const isNamed = ([key, flag]: NamedFlags[number]): boolean =>
    new RegExp(`^(${longName(key, flag)}|-[${switches}]*${flag.short ?? '(?!)'})(=|$)`).test(word);
  return flags.find(isNamed);
}

function optionFor(key: string, flag: Flag): Option {
  if (isSwitch(flag)) return new Option(flagTerm(key, flag));
  const name = longName(key, flag);
  const option = new Option(flag.joined === true ? `${name} [${flag.value}]` : flagTerm(key, flag));
  option.argParser((value, before: unknown) => {
    if (flag.repeatable === true) return [...((before ?? []) as string[]), value];
    if (before === undefined || before === value) return value;
    throw new UsageError(`${name} is given two values`, { hint: 'leave one of them out' });
  });
  return option;
}

/** Another tool takes fields after `--json`, as in `gh pr list --json number,title`: here they would be a text to look for. */
function rejectFieldsAsText({ spec, words }: NamedCommand): void {
  const [, fields] = / --json ([\w.]+(?:,[\w.]+)+)(?: |$)/.exec(` ${words.join(' ')}`) ?? [];
  if (fields === undefined || !('fields' in spec.flags)) return;
  const hint = `fields are named by --fields: --json --fields ${fields}`;
  throw new UsageError(`unexpected argument '${fields}'`, { hint });
}

function unexpectedWord(word: string, { spec, path }: NamedCommand, cause: CommanderError) {
  return new UsageError(`unexpected argument '${word}'`, {
    hint: hintForForeignName(word, path, spec.subcommands) ?? seeHelp(path),
    cause,
  });
}

function usageError(cause: CommanderError, path: string, flags: NamedFlags): UsageError {
  const message = cause.message.replace(/^error: /, '');
  const [, unknown = ''] = /^unknown option '(--[^'=]+)/.exec(message) ?? [];
  return new UsageError(
    message.replace(/^option '(?:-\w, )?(.+)' argument missing$/, '$1: the value is missing'),
    { hint: meantFlag(unknown, [...flags, ...Object.entries(immediateFlags)]) ?? seeHelp(path), cause },
  );
}

/** The hint for a word that is nearly the name of a flag, or of one of its values: `--in last-month` for `--last-month`. */
function meantFlag(typed: string, flags: NamedFlags): string | undefined {
  const namedFlags = flags.map(([key, flag]) => ({ name: longName(key, flag), flag }));
  const flagsByWord = new Map<string, string>();
  for (const { name, flag } of namedFlags) {
    const choices = isSwitch(flag) ? [] : (flag.type.choices ?? []);
    for (const choice of choices) flagsByWord.set(`--${choice}`, `${name} ${choice}`);
  }
  for (const { name, flag } of namedFlags)
    for (const word of [name, ...(flag.aliases ?? [])]) flagsByWord.set(word, name);
  const word = nearest(typed, [...flagsByWord.keys()]);
  return word === undefined ? undefined : `did you mean '${flagsByWord.get(word) ?? ''}'?`;
}

/**
 * Splits words into the name of a command, which is the first word that is neither a global flag nor its value, and the other
 * words: global flags stand before or after the name. Throws a `UsageError` for any other flag before it.
 */
function splitCommandName(typed: readonly string[]): {
  readonly name: string | undefined;
  readonly words: readonly string[];
} {
  for (let i = 0; i < typed.length; i += 1) {
    const word = typed[i] ?? '';
    if (!word.startsWith('-')) return { name: word, words: typed.toSpliced(i, 1) };
    if (isFollowedByValue(word)) i += 1;
  }
  return { name: undefined, words: typed };
}

/** Whether the word after this global flag is its value. Throws a `UsageError` for any other flag. */
function isFollowedByValue(word: string): boolean {
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...immediateFlags });
  const [, flag] = flagNamedBy(word, flags) ?? [];
  if (flag === undefined) {
    const hint = "the flags of a command stand after its name; see 'leads --help'";
    throw new UsageError(`unknown option '${word}'`, {
      hint: meantFlag(word.replace(/=.*/, ''), flags) ?? hint,
    });
  }
  return !isSwitch(flag) && !word.includes('=');
}

const below = (path: string, word: string): string => (path === '' ? word : `${path} ${word}`);

const seeHelp = (path: string): string => `see 'leads ${path === '' ? '--help' : `help ${path}`}'`;

/** Names by which other tools call what our commands do. */
const namesElsewhere = new Map([
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

/**
 * The hint that says how a command which another tool calls `name` is called here, below the command `path`, whose subcommands are
 * `children`. Undefined for a name that no other tool has, or one that is found below another command.
 */
function hintForForeignName(
  name: string,
  path: string,
  children: readonly { readonly name: string }[],
): string | undefined {
  const nameHere = namesElsewhere.get(name)?.replace(path === '' ? '' : `${path} `, '');
  const isBelowPath = children.some((child) => nameHere?.split(' ')[0] === child.name);
  if (nameHere === undefined || (!isBelowPath && nameHere !== '--version')) return undefined;
  return `it is 'leads ${below(path, nameHere)}' here`;
}
