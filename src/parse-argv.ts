import { type Argument, Command, CommanderError, Option } from 'commander';
import type { CommandSpec, Outcome } from './commands/command-spec.ts';
import type { Context, Globals, Host } from './context.ts';
import { UsageError } from './errors.ts';
import { commands, everywhere, rootHelp } from './program.ts';

const valued = ['--profile', '--base-url', '--timeout', '--retries'];

/** Parses `argv`, loads the one command it names, and runs it with a context made from the global flags. */
export async function parseAndRun(
  argv: readonly string[],
  host: Host,
  contextFor: (globals: Globals) => Context,
): Promise<Outcome> {
  let outcome: Outcome = 'done';
  const root = prepare(new Command('leads'), host)
    .version(LEADS_VERSION, '-V, --version')
    .configureHelp({ formatHelp: rootHelp });
  // `leads help list` is `leads list --help`.
  const asked = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const wanted = commandName(asked);
  const isKnown = commands.some((entry) => entry.name === wanted);
  // Asked for the help of a command that there is not, commander would show that of all.
  const words = wanted === undefined || isKnown ? asked : [wanted];
  for (const entry of commands) {
    const command = root.command(entry.name);
    // The others stand there for 'Did you mean …?' alone.
    if (entry.name !== wanted) continue;
    add(prepare(command, host), (await entry.load()).default, host, async (spec, flags, globals) => {
      if (spec.run !== undefined) outcome = await spec.run(flags, contextFor(globals));
    });
  }
  try {
    await root.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.help')
      throw new UsageError('no command is named', { hint: "see 'leads --help'" });
    if (error.exitCode !== 0) throw usageError(error, wanted);
  }
  return outcome;
}

type Action = (
  spec: CommandSpec,
  flags: Readonly<Record<string, unknown>>,
  globals: Globals,
) => Promise<void>;

function add(command: Command, spec: CommandSpec, host: Host, action: Action): void {
  command.description(spec.description ?? spec.summary);
  for (const child of spec.subcommands ?? []) {
    add(prepare(command.command(child.name), host).summary(child.summary), child, host, action);
  }
  spec.flags?.(command);
  if (spec.formats !== undefined) addFormat(command, spec.formats);
  const examples = (spec.examples ?? []).map((line) => `\n  $ ${line}`).join('');
  command.addHelpText('after', `\n${everywhere}${examples && `\n\nExamples:${examples}`}`);
  if (spec.run === undefined) {
    command.allowExcessArguments().action(() => {
      const [word] = command.args;
      if (word === undefined) command.outputHelp();
      else
        throw new UsageError(`unknown command '${command.name()} ${word}'`, {
          hint: `see 'leads ${command.name()} --help'`,
        });
    });
    return;
  }
  command.action(async () => {
    const options: Record<string, unknown> = { ...command.opts() };
    command.registeredArguments.forEach((argument, i) => {
      if (command.processedArgs[i] !== undefined) options[argument.name()] = command.processedArgs[i];
    });
    const formats = spec.formats;
    if (formats !== undefined) options['format'] = chosenFormat(options, formats);
    await action(spec, options, globalsOf(command));
  });
}

function addFormat(command: Command, formats: readonly [string, ...string[]]): void {
  command.addOption(new Option('--format <form>', `${formats.join(', ')} (default: ${formats[0]})`));
  command.addOption(new Option('--json', `short for --format ${jsonFormat(formats)}`));
}

const jsonFormat = (formats: readonly string[]): string => (formats.includes('json') ? 'json' : 'events');

function chosenFormat(
  options: Readonly<Record<string, unknown>>,
  formats: readonly [string, ...string[]],
): string {
  const given = typeof options['format'] === 'string' ? options['format'] : undefined;
  const asked = given ?? (options['json'] === true ? jsonFormat(formats) : formats[0]);
  if (formats.includes(asked)) {
    if (options['json'] !== true || asked === jsonFormat(formats)) return asked;
    throw new UsageError(`--json and --format ${asked} do not go together`, {
      hint: `--json is short for --format ${jsonFormat(formats)}`,
    });
  }
  throw new UsageError(`--format: '${asked}' is not one of ${formats.join(', ')}`);
}

/** Global flags stand before or after the command's name; exits and output are `main`'s, not commander's. */
function prepare(command: Command, host: Host): Command {
  return command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => (host.stdout.isTTY === true ? (host.stdout.columns ?? 80) : 80),
      getOutHasColors: () => false,
    })
    .configureHelp({
      subcommandTerm: (child) => [child.name(), ...child.registeredArguments.map(argumentTerm)].join(' '),
    })
    .showSuggestionAfterError(true)
    .addOption(hidden('--profile <name>'))
    .addOption(hidden('--base-url <url>'))
    .addOption(hidden('--timeout <duration>'))
    .addOption(hidden('--retries <n>'))
    .addOption(hidden('-v, --verbose'))
    .addOption(hidden('-q, --quiet'))
    .addOption(hidden('--no-color'))
    .addHelpOption(hidden('-h, --help'))
    .helpCommand(false);
}

/** The global flags are many and the same everywhere: help shows them in two lines at its end. */
const hidden = (flags: string): Option => new Option(flags).hideHelp();

/** The nearest value wins: `leads --profile a list --profile b` means b. */
function globalsOf(command: Command): Globals {
  const chain: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at);
  const all = chain.map((one) => one.opts<Partial<Globals>>());
  const last = <K extends keyof Globals>(key: K): Globals[K] | undefined =>
    all.findLast((one) => one[key] !== undefined)?.[key];
  return {
    profile: last('profile'),
    baseUrl: last('baseUrl'),
    timeout: last('timeout'),
    retries: last('retries'),
    verbose: all.some((one) => one.verbose === true),
    quiet: all.some((one) => one.quiet === true),
    color: all.every((one) => one.color !== false),
  };
}

/** The first word that is neither a flag nor a global flag's value. */
function commandName(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] ?? '';
    if (valued.includes(word)) i += 1;
    else if (!word.startsWith('-')) return word;
  }
  return undefined;
}

function usageError(error: CommanderError, command: string | undefined): UsageError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = rest.find((line) => line.startsWith('(Did you mean'))?.slice(1, -1);
  const help = commands.some((entry) => entry.name === command)
    ? `leads ${command ?? ''} --help`
    : 'leads --help';
  return new UsageError(first, { hint: suggestion ?? `see '${help}'`, cause: error });
}

const argumentTerm = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
