import { settingKeys } from '../../config/setting-keys.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { CommandSpec, ListedCommand, OutputRecord } from '../flags/command-spec.ts';
import {
  type Argument,
  argumentTerm,
  type Flag,
  type Flags,
  flagTerm,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type ValueFlag,
} from '../flags/flag.ts';
import { flagText, usage } from './command-help.ts';
import { programSummary, topicNames } from './root-help.ts';
import { describeTopic, environmentVariables } from './topics.ts';

/** `leads help --json`: the whole program as data, from which man pages and tables are made. */
export const describeProgram = async (commands: readonly ListedCommand[]) => ({
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

export type ProgramData = Awaited<ReturnType<typeof describeProgram>>;

export interface CommandData extends ReturnType<typeof describeSpec> {
  readonly commands: readonly CommandData[];
}

/** `path` is the command's whole name, such as `config set`. */
const describeCommand = (path: string, spec: CommandSpec): CommandData => ({
  ...describeSpec(path, spec),
  commands: spec.subcommands.map((child) => describeCommand(`${path} ${child.name}`, child)),
});

const describeSpec = (path: string, spec: CommandSpec) => ({
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
});

/** Every command may end with the other codes; it ends with these only where its `exits` name them. */
const ownExitCodes: readonly ExitCode[] = [4, 5, 6, 7];

const exitsOf = ({ exits = {} }: CommandSpec) =>
  exitCodes.flatMap(([code, generalMeaning]) => {
    if (!ownExitCodes.includes(code)) return { code, meaning: generalMeaning };
    const meaning = exits[code as keyof typeof exits];
    return meaning === undefined ? [] : { code, meaning: meaning === '' ? generalMeaning : meaning };
  });

const describeRecord = ({ what: meaning, type, fields, sometimes = [] }: OutputRecord) => ({
  what: meaning,
  type: type ?? null,
  fields: type === undefined ? fields : ['type', ...fields],
  sometimes,
});

const describeFlags = (flags: Flags) => Object.entries(flags).map(([key, flag]) => describeFlag(key, flag));

function describeFlag(key: string, flag: Flag) {
  const { short, help = '', group = 'Options' } = flag;
  const { shortFor } = isSwitch(flag) ? flag : {};
  const valued: Partial<ValueFlag<unknown>> = isSwitch(flag) ? {} : flag;
  const variable = settingKeys.find(({ name }) => name === valued.setting)?.variable;
  return {
    name: longName(key, flag),
    short: short === undefined ? null : `-${short}`,
    term: flagTerm(key, flag),
    help,
    text: flagText(flag),
    group,
    value: valued.value ?? null,
    type: valued.type?.expected ?? null,
    choices: valued.type?.choices ?? [],
    default: valued.default ?? null,
    otherwise: valued.otherwise ?? null,
    alone: valued.bare ?? null,
    repeatable: valued.repeatable === true,
    environment: valued.variable ?? variable ?? null,
    setting: valued.setting ?? null,
    shortFor: shortFor === undefined ? null : `--${shortFor[0]} ${shortFor[1]}`,
    with: (flag.with ?? []).map((words) => words.split(' | ')),
    without: flag.without ?? [],
  };
}

const describeArgument = (name: string, argument: Argument) => ({
  name,
  term: argumentTerm(name, argument),
  help: argument.help,
  type: argument.type.expected,
  choices: argument.type.choices ?? [],
  required: argument.optional !== true,
  repeatable: argument.repeatable === true,
});
