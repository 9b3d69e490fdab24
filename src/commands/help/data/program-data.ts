import type { CommandSpec } from '../../flags/command-spec.ts';
import { globalFlags, immediateFlags } from '../../flags/global-flags.ts';
import { environmentVariables } from '../environment.ts';
import { exitCodes } from '../exit-codes.ts';
import { programSummary, topicNames } from '../root-help.ts';
import { describeTopic, type TopicData } from '../topics.ts';
import { type CommandData, describeCommand, type ExitData } from './command-data.ts';
import { describeFlags, type FlagData } from './flag-data.ts';

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
