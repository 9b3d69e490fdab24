import { Command, CommanderError, Option } from 'commander';
import { checkOptions, type TypedValues } from './commands/flags/check-flags.ts';
import type { CommandSpec, Outcome } from './commands/flags/command-spec.ts';
import { argumentTerm, type Flag, flagName, flagTerm, isSwitch, longName } from './commands/flags/flag.ts';
import { type Globals, globalFlags, immediateFlags } from './commands/flags/global-flags.ts';
import { takeCommand } from './commands/flags/take-command.ts';
import { commandHelp } from './commands/help/command-help.ts';
import { topicNames } from './commands/help/root-help.ts';
import { didYouMean } from './commands/help/suggest.ts';
import type { Context } from './context.ts';
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
  const first = takeCommand(argv);
  const isHelp = first.name === 'help';
  // `leads help list` is `leads list --help`.
  const { name, rest } = isHelp ? takeCommand([...first.rest, '--help']) : first;
  if (name === undefined) return withoutCommand(rest);
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return topicOrError(name, isHelp);
  return parseCommand((await entry.load()).default, rest);
}

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

async function topicOrError(name: string, isHelp: boolean): Promise<Invocation> {
  const names = commands.map((command) => command.name);
  if (!isHelp) {
    throw new UsageError(`unknown command '${name}'`, {
      hint: didYouMean(name, names) ?? "see 'leads --help'",
    });
  }
  const { isTopic, topicHelp } = await import('./commands/help/topics.ts');
  if (isTopic(name)) return { kind: 'print', text: (width) => topicHelp(name, width) };
  throw new UsageError(`unknown command '${name}'`, {
    hint: didYouMean(name, [...names, ...topicNames]) ?? `help has the topics ${topicNames.join(', ')}`,
  });
}

/** Follows the words into a group of commands, then checks the rest. `path` is the whole name so far, such as `config set`. */
export function parseCommand(spec: CommandSpec, words: readonly string[], path = spec.name): Invocation {
  if (spec.subcommands.length > 0) {
    const { name, rest } = takeCommand(words);
    if (name !== undefined) return parseCommand(subcommand(spec, name, path), rest, `${path} ${name}`);
  }
  const typed = parseWords(spec, path, words);
  if (typed === 'version') return version;
  if (typed === 'help' || spec.prepare === undefined) {
    return { kind: 'print', text: (width) => commandHelp(path, spec, width) };
  }
  const globals = checkOptions({}, globalFlags, typed) as Globals;
  const allowsNewProfile = spec.allowsNewProfile === true;
  return { kind: 'run', globals, allowsNewProfile, run: spec.prepare(typed) };
}

function subcommand(spec: CommandSpec, name: string, path: string): CommandSpec {
  const child = spec.subcommands.find((candidate) => candidate.name === name);
  if (child !== undefined) return child;
  const names = spec.subcommands.map((candidate) => candidate.name);
  throw new UsageError(`unknown command '${path} ${name}'`, {
    hint: didYouMean(name, names) ?? `see 'leads ${path} --help'`,
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
    throw usageError(error, path, flags, excess);
  }
  const values: Record<string, unknown> = command.opts();
  Object.entries(spec.arguments).forEach(([name, { repeatable }], i) => {
    values[name] = repeatable === true ? command.args.slice(i) : command.args[i];
  });
  return values;
}

/** `--dry-run URL` as `--dry-run=curl URL`, since commander would take the URL for the flag's value. */
function withJoinedValues(words: readonly string[], flags: readonly (readonly [string, Flag])[]): string[] {
  const joined = flags.filter(([, flag]) => !isSwitch(flag) && flag.joined === true);
  return words.map((word) => {
    const [, flag] = joined.find(([key, one]) => longName(key, one) === word) ?? [];
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
  return flag.olderName === undefined
    ? [option]
    : [option, new Option(`--${flagName(flag.olderName)} <${flag.value}>`)];
}

function usageError(
  error: CommanderError,
  path: string,
  flags: readonly (readonly [string, Flag])[],
  excess = '',
): UsageError {
  const given = error.message.replace(/^error: /, '');
  const [, word = ''] = /^unknown option '(--[^']+)'/.exec(given) ?? [];
  const names = [...flags.map(([key, flag]) => longName(key, flag)), '--help', '--version'];
  const help = ['leads', path, '--help'].filter((part) => part !== '').join(' ');
  const message =
    error.code === 'commander.excessArguments'
      ? `unexpected argument '${excess}'`
      : given.replace(/^option '(?:-\w, )?(.+)' argument missing$/, '$1: the value is missing');
  return new UsageError(message, { hint: didYouMean(word, names) ?? `see '${help}'`, cause: error });
}
