import type { Context } from '../../context.ts';
import type { ExitCode, Outcome } from '../../exit-codes.ts';
import { checkOptions, type TypedValues } from './check-flags.ts';
import { withJson } from './shared-flags.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from './flag.ts';

export type { Outcome } from '../../exit-codes.ts';

type Run<O> = (options: O, context: Context) => Promise<Outcome>;

/** One kind of JSON object that a command prints; its fields are public. */
export interface OutputRecord {
  readonly what: string;
  /** The value of its member `type`. */
  readonly type?: string;
  readonly fields: readonly string[];
  /** Fields that are there only where they apply. */
  readonly sometimes?: readonly string[];
}

/** Of commands that print leads as they are, `--fields` apart. */
export const leadRecord: OutputRecord = {
  what: 'a lead, with every field that it was sent with',
  fields: ['id'],
  sometimes: ['category', 'contact', 'metadata', 'createdAt', 'status'],
};

/** Meanings of exit codes that not every command has; an empty text is the usual meaning. */
export type OwnExits = Readonly<Partial<Record<Extract<ExitCode, 4 | 5 | 6 | 7>, string>>>;

/** Of a command that asks the service. */
export const serviceExits: OwnExits = { 4: '', 5: '', 6: '' };

/** One command, declared once; parsing and help read it as data. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** More than the summary, for the command's own help. */
  readonly description?: string;
  /** A list under the flags in its help: what some argument may be. */
  readonly listing?: { readonly title: string; readonly rows: readonly (readonly [string, string])[] };
  /** In the order in which they are typed; the optional ones last. */
  readonly arguments: Arguments;
  readonly flags: Flags;
  /** Beside those that every command ends with. */
  readonly exits?: OwnExits;
  /** Of the JSON forms, in the order in which they are printed. */
  readonly output?: readonly OutputRecord[];
  /** Command lines that run as printed. */
  readonly examples: readonly string[];
  readonly subcommands: readonly CommandSpec[];
  /** Runs with a profile that is not stored: it makes one, or lists those that are. Any other command rejects it. */
  readonly allowsNewProfile?: true;
  /** Checks what was typed; the result loads the command's code and runs it. Undefined for a group of subcommands. */
  readonly prepare?: (typed: TypedValues) => (context: Context) => Promise<Outcome>;
}

type CommandTexts = Pick<
  CommandSpec,
  'name' | 'summary' | 'description' | 'examples' | 'listing' | 'allowsNewProfile' | 'exits' | 'output'
>;

/** `unknown` adds nothing: a command may have no arguments, or no flags. */
type CheckedOptions<A, F> = (A extends Arguments ? ArgumentsOf<A> : unknown) &
  (F extends Flags ? OptionsOf<F> : unknown);

/** A command that runs: its module's `run` takes exactly the options that the arguments and flags give. */
export function command<A extends Arguments | undefined = undefined, F extends Flags | undefined = undefined>(
  spec: CommandTexts & {
    readonly arguments?: A;
    readonly flags?: F;
    readonly load: () => Promise<{ readonly run: Run<CheckedOptions<A, F>> }>;
  },
): CommandSpec {
  const { load, arguments: args = {}, flags = {}, ...texts } = spec;
  return {
    ...texts,
    arguments: args,
    flags,
    subcommands: [],
    prepare(typed) {
      const options = checkOptions(args, flags, withJson(flags, typed)) as CheckedOptions<A, F>;
      const run = async (context: Context): Promise<Outcome> => (await load()).run(options, context);
      const { jq } = typed;
      if (typeof jq !== 'string') return run;
      return async (context) => {
        const { runFiltered } = await import('../../output/jq/filtered-output.ts');
        return runFiltered(jq, context, run);
      };
    },
  };
}

/** A name for several commands: `leads config`. */
export const commandGroup = (
  spec: CommandTexts & { readonly subcommands: readonly CommandSpec[] },
): CommandSpec => ({ arguments: {}, flags: {}, ...spec });
