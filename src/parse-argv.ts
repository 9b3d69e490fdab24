import { Command, CommanderError, Option } from 'commander';
import { checkOptions, type CommandSpec, type TypedValues } from './commands/flags/command-spec.ts';
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
} from './commands/flags/flag.ts';
import { commandHelp, wholeHelp } from './commands/help/command-help.ts';
import { type TopicName, topicNames } from './commands/help/root-help.ts';
import { didYouMean } from './output/suggest.ts';
import type { Globals } from './config/settings.ts';
import type { Context, Outcome } from './context.ts';
import { UsageError } from './errors.ts';
import { commands, programHelp } from './program.ts';

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: 'print'; readonly text: (width: number) => string }
  | {
      readonly kind: 'run';
      readonly globals: Globals;
      /** Whether the profile that is named may be one that is not stored. */
      readonly allowsNewProfile: boolean;
      readonly run: (context: Context) => Promise<Outcome>;
    };

/** Turns words into the checked options of one command, loading no more than its flags. Throws a `UsageError`. */
export async function parseArgv(argv: readonly string[]): Promise<Invocation> {
  const words = argv.some((word) => helpWords.includes(word))
    ? argv.filter((word) => word !== everything)
    : argv;
  const first = takeCommand(words);
  const isHelp = first.name === 'help';
  if (isHelp && first.rest.includes('--json')) {
    return helpAsData(first.rest.filter((word) => word !== '--json'));
  }
  // `leads help list` is `leads list --help --all`.
  const { name, rest } = isHelp ? takeCommand([...first.rest, '--help']) : first;
  if (name === undefined) return withoutCommand(rest);
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return topicOrError(name, isHelp);
  const isWhole = isHelp || words.length < argv.length;
  return parseCommand((await entry.load()).default, rest, isWhole ? wholeHelp : commandHelp);
}

const helpWords = ['--help', '-h'];

/** Beside `--help`: what does not fit a screen as well. */
const everything = '--all';

function withoutCommand(words: readonly string[]): Invocation {
  const root: CommandSpec = {
    name: '',
    summary: '',
    arguments: {},
    flags: {},
    examples: [],
    subcommands: [],
  };
  const typed = parseWords(root, '', words);
  if (typed === 'version') return version;
  if (typed === 'help') return { kind: 'print', text: programHelp };
  throw new UsageError('no command is named', { hint: "see 'leads --help'" });
}

/** `leads help --json [COMMAND …]` */
async function helpAsData(words: readonly string[]): Promise<Invocation> {
  const { name, rest } = takeCommand(words);
  if (name === undefined) {
    const { describeProgram } = await import('./commands/help/help-data.ts');
    return printedJson(await describeProgram(commands));
  }
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) {
    const topic = topicNamed(name);
    const { describeTopic } = await import('./commands/help/topics.ts');
    return printedJson(describeTopic(topic));
  }
  const { spec, path, rest: further } = followCommand((await entry.load()).default, rest);
  const { name: excess } = takeCommand(further);
  if (excess !== undefined) {
    throw new UsageError(`unexpected argument '${excess}'`, { hint: `see 'leads ${path} --help'` });
  }
  const { describeCommand } = await import('./commands/help/help-data.ts');
  return printedJson(describeCommand(path, spec));
}

const printedJson = (data: object): Invocation => ({
  kind: 'print',
  text: () => `${JSON.stringify(data, null, 2)}\n`,
});

/** By what other tools call it: our name for it. */
const otherNames: Readonly<Record<string, string>> = {
  version: '--version',
  ls: 'list',
  replay: 'inbox retry',
  resend: 'inbox retry',
  trigger: 'send',
  auth: 'login',
  logs: 'inbox list',
  events: 'inbox list',
};

/** The same, of the commands of a group. */
const otherNamesInGroups: Readonly<Record<string, string>> = {
  ls: 'list',
  replay: 'retry',
  resend: 'retry',
  delete: 'erase',
  rm: 'remove',
};

const ownName = (name: string): string | undefined =>
  Object.hasOwn(otherNames, name) ? `it is 'leads ${otherNames[name] ?? ''}' here` : undefined;

function ownNameInGroup(name: string, path: string, { subcommands }: CommandSpec): string | undefined {
  const own = Object.hasOwn(otherNamesInGroups, name) ? otherNamesInGroups[name] : undefined;
  return subcommands.some((child) => child.name === own)
    ? `it is 'leads ${path} ${own ?? ''}' here`
    : undefined;
}

const commandNames = (): string[] => commands.map((command) => command.name);

async function topicOrError(name: string, isHelp: boolean): Promise<Invocation> {
  if (!isHelp) {
    throw new UsageError(`unknown command '${name}'`, {
      hint: ownName(name) ?? didYouMean(name, commandNames()) ?? "see 'leads --help'",
    });
  }
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
  throw new UsageError(`unknown command '${name}'`, {
    hint:
      ownName(name) ??
      didYouMean(name, [...commandNames(), ...topicNames]) ??
      `help has the topics ${topicNames.join(', ')}`,
  });
}

/** Follows the words into a group of commands, and checks the rest. */
export function parseCommand(
  group: CommandSpec,
  words: readonly string[],
  help: typeof commandHelp = commandHelp,
): Invocation {
  const { spec, path, rest } = followCommand(group, words);
  const typed = parseWords(spec, path, rest);
  if (typed === 'version') return version;
  if (typed === 'help' || spec.prepare === undefined) {
    return { kind: 'print', text: (width) => help(path, spec, width) };
  }
  const globals: Globals = checkOptions({ arguments: {}, flags: globalFlags }, typed) as OptionsOf<
    typeof globalFlags
  >;
  const allowsNewProfile = spec.allowsNewProfile === true;
  try {
    const run = spec.prepare(typed);
    return {
      kind: 'run',
      globals,
      allowsNewProfile,
      run: (context) => run(context).catch((error: unknown) => throwWithHint(error, path)),
    };
  } catch (error) {
    return throwWithHint(error, path);
  }
}

/** Of how the command is used, where the error itself says no more. */
function throwWithHint(error: unknown, path: string): never {
  if (!(error instanceof UsageError) || error.hint !== undefined) throw error;
  throw new UsageError(error.message, { ...error.details, hint: `see 'leads ${path} --help'`, cause: error });
}

interface NamedCommand {
  readonly spec: CommandSpec;
  /** The whole name, such as `config set`. */
  readonly path: string;
  readonly rest: readonly string[];
}

function followCommand(spec: CommandSpec, words: readonly string[], path = spec.name): NamedCommand {
  const isChild = spec.subcommands.some(({ name }) => name === words[0]);
  if (isChild || (spec.subcommands.length > 0 && spec.prepare === undefined)) {
    const { name, rest } = takeCommand(words);
    if (name !== undefined) return followCommand(subcommand(spec, name, path), rest, `${path} ${name}`);
  }
  return { spec, path, rest: words };
}

function subcommand(spec: CommandSpec, name: string, path: string): CommandSpec {
  const child = spec.subcommands.find((candidate) => candidate.name === name);
  if (child !== undefined) return child;
  const names = spec.subcommands.map((candidate) => candidate.name);
  throw new UsageError(`unknown command '${path} ${name}'`, {
    hint: ownNameInGroup(name, path, spec) ?? didYouMean(name, names) ?? `see 'leads ${path} --help'`,
  });
}

const version: Invocation = { kind: 'print', text: () => `${LEADS_VERSION}\n` };

/** Sorts words into the command's arguments and flags and the global flags, by name, unchecked. */
function parseWords(
  spec: CommandSpec,
  path: string,
  words: readonly string[],
): TypedValues | 'help' | 'version' {
  const flags: readonly [string, Flag][] = Object.entries({ ...globalFlags, ...spec.flags });
  const command = new Command(path)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .configureHelp({ formatHelp: () => '' })
    .showSuggestionAfterError(false)
    .version('', flagTerm('version', immediateFlags.version))
    .helpOption(flagTerm('help', immediateFlags.help));
  for (const [name, argument] of Object.entries(spec.arguments))
    command.argument(argumentTerm(name, argument));
  for (const [key, flag] of flags) for (const option of optionsFor(key, flag)) command.addOption(option);
  try {
    command.parse(withJoinedValues(words, flags), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return 'version';
    if (error.code === 'commander.helpDisplayed') return 'help';
    const [excess] = command.args.slice(Object.keys(spec.arguments).length);
    const instead = fieldsBehindJson(spec, words, excess) ?? ownNameInGroup(excess ?? '', path, spec);
    throw usageError(error, path, flags, excess, instead);
  }
  const values: Record<string, unknown> = command.opts();
  Object.entries(spec.arguments).forEach(([name, { repeatable }], i) => {
    values[name] = repeatable === true ? command.args.slice(i) : command.args[i];
  });
  return values;
}

/** What `--json id,email` is here. */
const fieldsBehindJson = (
  { flags }: CommandSpec,
  words: readonly string[],
  excess = '',
): string | undefined =>
  'fields' in flags && excess !== '' && words[words.indexOf(excess) - 1] === '--json'
    ? `fields are named by --fields: --json --fields ${excess}`
    : undefined;

/** `--dry-run URL` as `--dry-run=curl URL`, since commander would take the URL for the flag's value. */
function withJoinedValues(words: readonly string[], flags: readonly (readonly [string, Flag])[]): string[] {
  const joined = flags.filter(([, flag]) => !isSwitch(flag) && flag.joined === true);
  return words.map((word) => {
    const [, flag] = joined.find(([key, candidate]) => longName(key, candidate) === word) ?? [];
    return flag === undefined || isSwitch(flag) ? word : `${word}=${flag.bare ?? ''}`;
  });
}

function optionsFor(key: string, flag: Flag): Option[] {
  if (isSwitch(flag) && flag.eitherWay === true) {
    return [new Option(longName(key, flag)), new Option(`--no-${flagName(key)}`)];
  }
  const term =
    !isSwitch(flag) && flag.joined === true ? `${longName(key, flag)} [${flag.value}]` : flagTerm(key, flag);
  const option = new Option(term);
  if (isSwitch(flag)) return [option];
  if (flag.repeatable === true) {
    option.argParser((value, before: string[] | undefined) => [...(before ?? []), value]);
  }
  return [option];
}

function usageError(
  error: CommanderError,
  path: string,
  flags: readonly (readonly [string, Flag])[],
  excess = '',
  instead?: string,
): UsageError {
  const given = error.message.replace(/^error: /, '');
  const [, word = ''] = /^unknown option '(--[^'=]+)/.exec(given) ?? [];
  const names = [...flags.map(([key, flag]) => longName(key, flag)), '--help', '--version'];
  const help = ['leads', path, '--help'].filter((part) => part !== '').join(' ');
  const message =
    error.code === 'commander.excessArguments'
      ? `unexpected argument '${excess}'`
      : given.replace(/^option '(?:-\w, )?(.+)' argument missing$/, '$1: the value is missing');
  return new UsageError(message, {
    hint: instead ?? didYouMean(word, names) ?? `see '${help}'`,
    cause: error,
  });
}

/**
 * The first word that is neither a global flag nor a global flag's value, and the other words: global flags stand
 * before or after it. Throws a `UsageError` for any other flag before it.
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
  const flags: readonly (readonly [key: string, flag: Flag])[] = Object.entries({
    ...globalFlags,
    ...immediateFlags,
  });
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
