import { Command, CommanderError, Option } from 'commander';
import { checkOptions, type CommandSpec } from './commands/flags/command-spec.ts';
import {
  argumentTerm,
  type Flag,
  flagName,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type OptionsOf,
  type TypedValues,
} from './commands/flags/flag.ts';
import { commandHelp, wholeHelp } from './commands/help/command-help.ts';
import { type TopicName, topicNames } from './commands/help/root-help.ts';
import { didYouMean } from './output/suggest.ts';
import type { Globals } from './config/settings.ts';
import type { Context, Outcome } from './context.ts';
import { UsageError } from './errors.ts';
import { commands, programHelp } from './program.ts';

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
  const typed = parseWords(root, '', words);
  if (typed === 'version') return version;
  if (typed === 'help') return { kind: 'print', text: programHelp };
  throw new UsageError('no command is named', { hint: "see 'leads --help'" });
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
    throw new UsageError(`unexpected argument '${excess}'`, { hint: `see 'leads ${path} --help'` });
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
  if (!isHelp) throw unknownCommand(name, [], "see 'leads --help'");
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
  const { spec, path, words } = followCommand(group, typedWords);
  const typed = parseWords(spec, path, words);
  if (typed === 'version') return version;
  const { prepare, allowsNewProfile = false } = spec;
  if (typed === 'help' || prepare === undefined) {
    return { kind: 'print', text: (width) => help(path, spec, width) };
  }
  const globals = checkOptions({ arguments: {}, flags: globalFlags }, typed) as OptionsOf<typeof globalFlags>;
  const withHint = (error: unknown): never => {
    if (!(error instanceof UsageError) || error.hint !== undefined) throw error;
    const hint = `see 'leads ${path} --help'`;
    throw new UsageError(error.message, { ...error.details, hint, cause: error });
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
    hint: ourName(name, path, subcommands) ?? didYouMean(name, names) ?? `see 'leads ${path} --help'`,
  });
}

const version: Invocation = { kind: 'print', text: () => `${LEADS_VERSION}\n` };

/** Sorts words into the command's arguments and flags and the global flags, by name, unchecked. */
function parseWords(
  spec: CommandSpec,
  path: string,
  words: readonly string[],
): TypedValues | 'help' | 'version' {
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...spec.flags });
  const args = Object.entries(spec.arguments);
  const command = new Command(path)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .configureHelp({ formatHelp: () => '' })
    .showSuggestionAfterError(false)
    .version('', flagTerm('version', immediateFlags.version))
    .helpOption(flagTerm('help', immediateFlags.help));
  for (const [name, argument] of args) command.argument(argumentTerm(name, argument));
  for (const [key, flag] of flags) for (const option of optionsFor(key, flag)) command.addOption(option);
  try {
    command.parse(withJoinedValues(words, flags), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return 'version';
    if (error.code === 'commander.helpDisplayed') return 'help';
    const isExcess = error.code === 'commander.excessArguments';
    const excess = isExcess ? (command.args[args.length] ?? '') : undefined;
    throw usageError({ spec, path, words, flags }, excess, error);
  }
  const positional = args.map(([name, { repeatable }], i) => [
    name,
    repeatable === true ? command.args.slice(i) : command.args[i],
  ]);
  return { ...command.opts(), ...(Object.fromEntries(positional) as TypedValues) };
}

/** `--dry-run URL` as `--dry-run=curl URL`, since commander would take the URL for the flag's value. */
function withJoinedValues(words: readonly string[], flags: NamedFlags): string[] {
  return words.map((word) => {
    const [, flag] = flags.find(([key, candidate]) => longName(key, candidate) === word) ?? [];
    return flag === undefined || isSwitch(flag) || flag.joined !== true ? word : `${word}=${flag.bare ?? ''}`;
  });
}

function optionsFor(key: string, flag: Flag): Option[] {
  const name = longName(key, flag);
  if (isSwitch(flag)) {
    return flag.eitherWay === true
      ? [new Option(name), new Option(`--no-${flagName(key)}`)]
      : [new Option(flagTerm(key, flag))];
  }
  const option = new Option(flag.joined === true ? `${name} [${flag.value}]` : flagTerm(key, flag));
  option.argParser((value, before: unknown) => {
    if (flag.repeatable === true) return [...((before ?? []) as string[]), value];
    if (before === undefined || before === value) return value;
    throw new UsageError(`${name} is given two values`, { hint: 'leave one of them out' });
  });
  return [option];
}

interface Parsed extends NamedCommand {
  readonly flags: NamedFlags;
}

/** `excess`: the argument that is one too many. */
function usageError({ spec, path, words, flags }: Parsed, excess: string | undefined, cause: CommanderError) {
  const message = cause.message.replace(/^error: /, '');
  const hint = path === '' ? "see 'leads --help'" : `see 'leads ${path} --help'`;
  if (excess !== undefined) {
    const isFields = 'fields' in spec.flags && words[words.indexOf(excess) - 1] === '--json';
    const fieldsHint = isFields ? `fields are named by --fields: --json --fields ${excess}` : undefined;
    return new UsageError(`unexpected argument '${excess}'`, {
      hint: fieldsHint ?? ourName(excess, path, spec.subcommands) ?? hint,
      cause,
    });
  }
  const [, unknown = ''] = /^unknown option '(--[^'=]+)/.exec(message) ?? [];
  const names = [...flags.map(([key, flag]) => longName(key, flag)), '--help', '--version'];
  return new UsageError(
    message.replace(/^option '(?:-\w, )?(.+)' argument missing$/, '$1: the value is missing'),
    { hint: didYouMean(unknown, names) ?? hint, cause },
  );
}

/**
 * Gives the first word that is neither a global flag nor its value, and the other words: global flags stand before or after
 * it. Throws a `UsageError` for any other flag before it.
 */
function takeCommand(words: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (!word.startsWith('-')) return { name: word, rest: words.toSpliced(i, 1) };
    if (takesValue(word)) i += 1;
  }
  return { name: undefined, rest: words };
}

/** Whether the next word is the value of this global flag. Throws a `UsageError` for any other flag. */
function takesValue(word: string): boolean {
  const flags: NamedFlags = Object.entries({ ...globalFlags, ...immediateFlags });
  const [long = ''] = word.split('=');
  const letters = flags.flatMap(([, { short }]) => short ?? []);
  const [, flag] = flags.find(([key, candidate]) => longName(key, candidate) === long) ?? [];
  if (flag === undefined && !new RegExp(`^-[${letters.join('')}]+$`).test(word)) {
    const names = flags.map(([key, candidate]) => longName(key, candidate));
    const hint = "the flags of a command stand after its name; see 'leads --help'";
    throw new UsageError(`unknown option '${word}'`, { hint: didYouMean(long, names) ?? hint });
  }
  return flag !== undefined && !isSwitch(flag) && word === long;
}
