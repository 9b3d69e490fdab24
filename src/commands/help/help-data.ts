import { settingKeys } from '../../config/setting-keys.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { CommandSpec, OutputRecord } from '../flags/command-spec.ts';
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
} from '../flags/flag.ts';
import { usage } from './command-help.ts';
import { programSummary, topicNames } from './root-help.ts';
import { describeTopic, environmentVariables, type TopicData } from './topics.ts';

interface ListedCommand {
  readonly group: string;
  readonly load: () => Promise<{ readonly default: CommandSpec }>;
}

/** `leads help --json`: the whole program as data, from which man pages and tables are made; its fields are public. */
export interface ProgramData {
  readonly name: 'leads';
  readonly version: string;
  readonly summary: string;
  readonly usage: string;
  /** Those that every command takes. */
  readonly flags: readonly FlagData[];
  readonly environment: readonly { readonly name: string; readonly meaning: string }[];
  /** Of all commands; those of one command are with it. */
  readonly exitCodes: readonly ExitData[];
  readonly topics: readonly TopicData[];
  readonly commands: readonly (CommandData & { readonly group: string })[];
}

export const describeProgram = async (commands: readonly ListedCommand[]): Promise<ProgramData> => ({
  name: 'leads',
  version: LEADS_VERSION,
  summary: programSummary,
  usage: 'leads <command> [flags]',
  flags: describeFlags({ ...globalFlags, ...immediateFlags }),
  environment: environmentVariables.map(([name, meaning]) => ({ name, meaning })),
  exitCodes: exitCodes.map(([code, meaning]) => ({ code, meaning })),
  topics: topicNames.map(describeTopic),
  commands: await Promise.all(
    commands.map(async ({ group, load }) => {
      const { default: spec } = await load();
      return { group, ...describeCommand(spec.name, spec) };
    }),
  ),
});

interface ExitData {
  readonly code: ExitCode;
  readonly meaning: string;
}

/** A command as `help --json` describes it; its fields are public. */
export interface CommandData {
  /** The words behind `leads`, such as `config set`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs, each on a line. */
  readonly description: string;
  readonly usage: string;
  readonly arguments: readonly ArgumentData[];
  readonly flags: readonly FlagData[];
  /** What an argument may be, or what the command finds, where that is listed. */
  readonly listing: { readonly title: string; readonly rows: readonly (readonly [string, string])[] } | null;
  readonly exitCodes: readonly ExitData[];
  /** The objects of its JSON forms; empty without one. */
  readonly output: readonly {
    readonly what: string;
    readonly type: string | null;
    readonly fields: readonly string[];
    readonly sometimes: readonly string[];
  }[];
  /** Command lines that run as printed. */
  readonly examples: readonly string[];
  readonly commands: readonly CommandData[];
}

/** What a declaration says, as data; `path` is the command's whole name. */
export function describeCommand(path: string, spec: CommandSpec): CommandData {
  return {
    name: path,
    summary: spec.summary,
    description: spec.description ?? '',
    usage: usage(path, spec),
    arguments: Object.entries(spec.arguments).map(([name, argument]) => describeArgument(name, argument)),
    flags: describeFlags(spec.flags),
    listing: spec.listing ?? null,
    exitCodes: spec.prepare === undefined ? [] : exitsOf(spec),
    output: (spec.output ?? []).map(describeRecord),
    examples: spec.examples,
    commands: spec.subcommands.map((child) => describeCommand(`${path} ${child.name}`, child)),
  };
}

/** Codes that not every command ends with. */
const owned: readonly ExitCode[] = [4, 5, 6, 7];

const exitsOf = ({ exits = {} }: CommandSpec): ExitData[] =>
  exitCodes.flatMap(([code, usual]) => {
    if (!owned.includes(code)) return { code, meaning: usual };
    const own = exits[code as keyof typeof exits];
    return own === undefined ? [] : { code, meaning: own === '' ? usual : own };
  });

const describeRecord = ({
  what,
  type,
  fields,
  sometimes = [],
}: OutputRecord): CommandData['output'][number] => ({
  what,
  type: type ?? null,
  fields: type === undefined ? fields : ['type', ...fields],
  sometimes,
});

/** A flag as `help --json` describes it; its fields are public. What does not apply is null, false or empty. */
interface FlagData {
  /** As it is typed, such as `--page-size`. */
  readonly name: string;
  readonly short: string | null;
  /** Other names that are understood: `--no-gzip` beside `--gzip`, and older ones. */
  readonly aliases: readonly string[];
  /** As help shows it, such as `-o, --output <file>`. */
  readonly term: string;
  readonly help: string;
  /** Heading in help. */
  readonly group: string;
  /** The help topic that explains it. */
  readonly topic: string | null;
  /** Placeholder of its value; null for a flag without one. */
  readonly value: string | null;
  /** What a value must be, in words. */
  readonly type: string | null;
  readonly choices: readonly string[];
  /** The value without the flag. */
  readonly default: string | null;
  /** In words, what holds without the flag. */
  readonly otherwise: string | null;
  /** The value of the flag alone. */
  readonly alone: string | null;
  readonly repeatable: boolean;
  /** The environment variable and the setting that hold without the flag, in this order. */
  readonly environment: string | null;
  readonly setting: string | null;
  /** `--json` means `--format json`. */
  readonly shortFor: string | null;
}

interface ArgumentData {
  readonly name: string;
  /** As help shows it: `<id>`, `[file]`. */
  readonly term: string;
  readonly help: string;
  readonly type: string;
  readonly choices: readonly string[];
  readonly required: boolean;
  readonly repeatable: boolean;
}

/** Flags as data, in the order of their declaration. */
const describeFlags = (flags: Flags): FlagData[] =>
  Object.entries(flags).map(([key, flag]) => describeFlag(key, flag));

function describeFlag(key: string, flag: Flag): FlagData {
  const { short, help = '', group = 'Options', topic = null } = flag;
  const name = isSwitch(flag) && flag.eitherWay === true ? `--${flagName(key)}` : longName(key, flag);
  const texts = { name, short: short === undefined ? null : `-${short}`, term: flagTerm(key, flag) };
  if (isSwitch(flag)) {
    return {
      ...texts,
      aliases: flag.eitherWay === true ? [`--no-${flagName(key)}`] : [],
      help,
      group,
      topic,
      ...{ value: null, type: null, choices: [], default: null, otherwise: null, alone: null },
      ...{ repeatable: false, environment: null, setting: null },
      shortFor: flag.shortFor === undefined ? null : `--${flag.shortFor[0]} ${flag.shortFor[1]}`,
    };
  }
  const variable = settingKeys.find((setting) => setting.name === flag.setting)?.variable;
  return {
    ...texts,
    aliases: flag.olderName === undefined ? [] : [`--${flagName(flag.olderName)}`],
    help,
    group,
    topic,
    value: flag.value,
    type: flag.type.expected,
    choices: flag.type.choices ?? [],
    default: flag.default ?? null,
    otherwise: flag.otherwise ?? null,
    alone: flag.bare ?? null,
    repeatable: flag.repeatable === true,
    environment: flag.variable ?? variable ?? null,
    setting: flag.setting ?? null,
    shortFor: null,
  };
}

const describeArgument = (name: string, argument: Argument): ArgumentData => ({
  name,
  term: argumentTerm(name, argument),
  help: argument.help,
  type: argument.type.expected,
  choices: argument.type.choices ?? [],
  required: argument.optional !== true,
  repeatable: argument.repeatable === true,
});
