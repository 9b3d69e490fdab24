import { checkOptions, type CommandSpec } from './commands/flags/command-spec.ts';
import { globalFlags, type OptionsOf } from './commands/flags/flag.ts';
import {
  type NamedCommand,
  hintForForeignName,
  parseWords,
  seeHelp,
  splitCommandName,
} from './commands/flags/parse-words.ts';
import { commandHelp, wholeHelp } from './commands/help/command-help.ts';
import { type TopicName, topicNames } from './commands/help/root-help.ts';
import { didYouMean } from './output/suggest.ts';
import type { Globals } from './config/load-settings.ts';
import type { Context, Outcome } from './context.ts';
import { UsageError } from './errors.ts';
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

function unknownCommand(name: string, further: readonly string[], hint: string): UsageError {
  const names = [...commands.map((command) => command.name), ...further];
  return new UsageError(`unknown command '${name}'`, {
    hint: hintForForeignName(name, '', commands) ?? didYouMean(name, names) ?? hint,
  });
}

async function topicOrError(name: string, isHelpCommand: boolean): Promise<Invocation> {
  if (!isHelpCommand) throw unknownCommand(name, [], seeHelp(''));
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

function followCommand(spec: CommandSpec, words: readonly string[], path = spec.name): NamedCommand {
  const { subcommands, prepare } = spec;
  const isChild = subcommands.some(({ name }) => name === words[0]);
  if (!isChild && (subcommands.length === 0 || prepare !== undefined)) return { spec, path, words };
  const { name, words: further } = splitCommandName(words);
  if (name === undefined) return { spec, path, words };
  const child = subcommands.find((candidate) => candidate.name === name);
  if (child !== undefined) return followCommand(child, further, `${path} ${name}`);
  const names = subcommands.map((candidate) => candidate.name);
  throw new UsageError(`unknown command '${path} ${name}'`, {
    hint: hintForForeignName(name, path, subcommands) ?? didYouMean(name, names) ?? seeHelp(path),
  });
}

const version: Invocation = { kind: 'print', text: () => `${LEADS_VERSION}\n` };
