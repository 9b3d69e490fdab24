import { settingKeys } from '../../config/setting-keys.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { CommandSpec, ListedCommand, OutputRecord } from '../flags/command-spec.ts';
import {
  type Argument,
  argumentTerm,
  type Flag,
  flagName,
  type Flags,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type ValueFlag,
} from '../flags/flag.ts';
import { usage } from './command-help.ts';
import { programSummary, topicNames } from './root-help.ts';
import { describeTopic, environmentVariables } from './topics.ts';

/** `leads help --json`: the whole program as data, from which man pages and tables are made; its fields are public. */
export const describeProgram = async (commands: readonly ListedCommand[]) => ({
  name: 'leads',
  version: LEADS_VERSION,
  summary: programSummary,
  usage: 'leads <command> [flags]',
  /** Those that every command takes. */
  flags: describeFlags({ ...globalFlags, ...immediateFlags }),
  environment: environmentVariables.map(([name, meaning]) => ({ name, meaning })),
  /** Of all commands; those of one command are with it. */
  exitCodes: exitCodes.map(([code, meaning]) => ({ code, meaning })),
  topics: topicNames.map(describeTopic),
  commands: await Promise.all(
    commands.map(async ({ group, load }) => {
      const { default: spec } = await load();
      return { group, ...describeCommand(spec.name, spec) };
    }),
  ),
});

export type ProgramData = Awaited<ReturnType<typeof describeProgram>>;

/** A command as `help --json` describes it; its fields are public. */
export type CommandData = ReturnType<typeof describeSpec> & { readonly commands: readonly CommandData[] };

/** What a declaration says, as data; `path` is the command's whole name, such as `config set`. */
export const describeCommand = (path: string, spec: CommandSpec): CommandData => ({
  ...describeSpec(path, spec),
  commands: spec.subcommands.map((child) => describeCommand(`${path} ${child.name}`, child)),
});

const describeSpec = (path: string, spec: CommandSpec) => ({
  name: path,
  summary: spec.summary,
  /** Paragraphs, each on a line. */
  description: spec.description ?? '',
  usage: usage(path, spec),
  arguments: Object.entries(spec.arguments).map(([name, argument]) => describeArgument(name, argument)),
  flags: describeFlags(spec.flags),
  /** What an argument may be, or what the command finds, where that is listed. */
  listing: spec.listing ?? null,
  exitCodes: spec.prepare === undefined ? [] : exitsOf(spec),
  /** The objects of its JSON forms; empty without one. */
  output: (spec.output ?? []).map(describeRecord),
  /** A file of the package: a JSON Schema (2020-12) of them. */
  schema: spec.schema === undefined ? null : `dist/schemas/${spec.schema}.json`,
  /** Command lines that run as printed. */
  examples: spec.examples,
});

/** Codes that not every command ends with. */
const owned: readonly ExitCode[] = [4, 5, 6, 7];

const exitsOf = ({ exits = {} }: CommandSpec) =>
  exitCodes.flatMap(([code, usual]) => {
    if (!owned.includes(code)) return { code, meaning: usual };
    const own = exits[code as keyof typeof exits];
    return own === undefined ? [] : { code, meaning: own === '' ? usual : own };
  });

const describeRecord = ({ what, type, fields, sometimes = [] }: OutputRecord) => ({
  what,
  type: type ?? null,
  fields: type === undefined ? fields : ['type', ...fields],
  sometimes,
});

/** Flags as data, in the order of their declaration. */
const describeFlags = (flags: Flags) => Object.entries(flags).map(([key, flag]) => describeFlag(key, flag));

/** A flag as `help --json` describes it; its fields are public. What does not apply is null, false or empty. */
function describeFlag(key: string, flag: Flag) {
  const { short, help = '', group = 'Options' } = flag;
  const { eitherWay, shortFor } = isSwitch(flag) ? flag : {};
  const valued: Partial<ValueFlag<unknown>> = isSwitch(flag) ? {} : flag;
  const { olderName } = valued;
  const variable = settingKeys.find(({ name }) => name === valued.setting)?.variable;
  return {
    /** As it is typed, such as `--page-size`. */
    name: eitherWay === true ? `--${flagName(key)}` : longName(key, flag),
    short: short === undefined ? null : `-${short}`,
    /** As help shows it, such as `-o, --output <file>`. */
    term: flagTerm(key, flag),
    /** Other names that are understood: `--no-gzip` beside `--gzip`, and older ones. */
    aliases: [
      ...(eitherWay === true ? [`--no-${flagName(key)}`] : []),
      ...(olderName === undefined ? [] : [`--${flagName(olderName)}`]),
    ],
    help,
    /** Heading in help. */
    group,
    /** Placeholder of its value. */
    value: valued.value ?? null,
    /** What a value must be, in words. */
    type: valued.type?.expected ?? null,
    choices: valued.type?.choices ?? [],
    /** The value without the flag. */
    default: valued.default ?? null,
    /** In words, what holds without the flag. */
    otherwise: valued.otherwise ?? null,
    /** The value of the flag alone. */
    alone: valued.bare ?? null,
    repeatable: valued.repeatable === true,
    /** The environment variable and the setting that hold without the flag, in this order. */
    environment: valued.variable ?? variable ?? null,
    setting: valued.setting ?? null,
    /** `--json` means `--format json`. */
    shortFor: shortFor === undefined ? null : `--${shortFor[0]} ${shortFor[1]}`,
  };
}

const describeArgument = (name: string, argument: Argument) => ({
  name,
  /** As help shows it: `<id>`, `[file]`. */
  term: argumentTerm(name, argument),
  help: argument.help,
  type: argument.type.expected,
  choices: argument.type.choices ?? [],
  required: argument.optional !== true,
  repeatable: argument.repeatable === true,
});
