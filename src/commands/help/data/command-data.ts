import type { ExitCode } from '../../../errors.ts';
import type { CommandSpec, OutputRecord } from '../../flags/command-spec.ts';
import { exitCodes } from '../exit-codes.ts';
import { usage } from '../usage.ts';
import { type ArgumentData, describeArgument, describeFlags, type FlagData } from './flag-data.ts';

export interface ExitData {
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
