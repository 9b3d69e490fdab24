import type { ValueType } from '../../config/value-types.ts';
import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { didYouMean } from '../../output/suggest.ts';
import {
  type Arguments,
  type ArgumentsOf,
  argumentTerm,
  type Flag,
  flagName,
  type Flags,
  flagTerm,
  isSwitch,
  longName,
  type OptionsOf,
  orList,
  type Switch,
  type TypedValues,
  type ValueFlag,
} from './flag.ts';

type Run<Options> = (options: Options, context: Context) => Promise<Outcome>;

/**
 * A kind of JSON object that a command prints; its fields are public. `type` is the value of its member of that name, and
 * `sometimes` are fields that it only has if they apply.
 */
export interface OutputRecord {
  readonly what: string;
  readonly type?: string;
  readonly fields: readonly string[];
  readonly sometimes?: readonly string[];
}

export const members = (names: string): readonly string[] => names.split(' ');

export const leadRecord: OutputRecord = {
  what: 'a lead, with every field that it was sent with',
  fields: ['id'],
  sometimes: ['category', 'contact', 'metadata', 'createdAt', 'status'],
};

/** Meanings of exit codes that not every command has; an empty text is the general meaning. */
export type OwnExits = Readonly<Partial<Record<Extract<ExitCode, 4 | 5 | 6 | 7>, string>>>;

export const serviceExits: OwnExits = { 4: '', 5: '', 6: '' };

/** The declaration of a command; parsing and help read it as data. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly listing?: { readonly title: string; readonly rows: readonly (readonly [string, string])[] };
  /** In the order in which they are typed; the optional ones last. */
  readonly arguments: Arguments;
  readonly flags: Flags;
  /** The flags of a help that fits one screen, in this order. */
  readonly everyday?: readonly string[];
  /** Codes beside those that every command ends with. */
  readonly exits?: OwnExits;
  readonly output?: readonly OutputRecord[];
  readonly examples: readonly string[];
  readonly subcommands: readonly CommandSpec[];
  /** It runs with a profile that is not stored, which other commands reject. */
  readonly allowsNewProfile?: true;
  /** Checks the typed values; the result loads the command's code and runs it. Undefined for a group of subcommands. */
  readonly prepare?: (typed: TypedValues) => (context: Context) => Promise<Outcome>;
}

/** A row of the command table; `load` gives the flags, which load the code when the command runs. */
export interface ListedCommand {
  readonly name: string;
  readonly group: 'Setup' | 'Pull' | 'Push' | 'Prove' | 'Emulate' | 'Shell';
  readonly summary: string;
  readonly load: () => Promise<{ readonly default: CommandSpec }>;
}

type CommandTexts = Pick<
  CommandSpec,
  'name' | 'summary' | 'description' | 'examples' | 'listing' | 'allowsNewProfile' | 'exits' | 'output'
>;

/** `unknown` adds nothing: a command may have no arguments, or no flags. */
type CheckedOptions<A, F> = (A extends Arguments ? ArgumentsOf<A> : unknown) &
  (F extends Flags ? OptionsOf<F> : unknown);

interface RunningCommand<A, F, O> extends CommandTexts {
  readonly arguments?: A;
  readonly flags?: F;
  readonly everyday?: readonly (keyof F & string)[];
  readonly subcommands?: readonly CommandSpec[];
  readonly load: () => Promise<{ readonly run: Run<O> }>;
}

/** A command that runs: its module's `run` takes exactly the options that the arguments and flags give. */
export function command<A extends Arguments | undefined = undefined, F extends Flags | undefined = undefined>(
  spec: RunningCommand<A, F, CheckedOptions<A, F>>,
): CommandSpec;
/** `settle`: completes the options by those that follow from others, before `with` and `without` of the flags are checked. */
export function command<A extends Arguments | undefined, F extends Flags | undefined, S extends object>(
  spec: RunningCommand<A, F, S> & { readonly settle: (options: CheckedOptions<A, F>) => S },
): CommandSpec;
export function command(
  spec: RunningCommand<Arguments, Flags, never> & Pick<CheckedSpec, 'settle'>,
): CommandSpec {
  const { load, arguments: args = {}, flags = {}, settle, ...texts } = spec;
  return {
    subcommands: [],
    ...texts,
    arguments: args,
    flags,
    prepare(typed) {
      const options = checkOptions({ arguments: args, flags, settle }, typed);
      return async (context) =>
        (await load()).run((await withZone(flags, options, context)) as never, context);
    },
  };
}

export const commandGroup = (
  spec: CommandTexts & { readonly subcommands: readonly CommandSpec[] },
): CommandSpec => ({ arguments: {}, flags: {}, ...spec });

type Declared = Pick<CommandSpec, 'arguments' | 'flags'>;

interface CheckedSpec extends Declared {
  readonly settle?: ((options: never) => object) | undefined;
}

/** Throws a `UsageError` that names the flag, the typed text and what is expected. */
export function checkOptions(
  { arguments: args, flags, settle }: CheckedSpec,
  typed: TypedValues,
): Record<string, unknown> {
  const values = expandShortForms(flags, typed);
  const options: Record<string, unknown> = {};
  for (const [name, argument] of Object.entries(args)) {
    const value = values[name];
    const check = (text: string): unknown => checkValue(argument.type, text, argumentTerm(name, argument));
    if (argument.repeatable === true) options[name] = ((value ?? []) as readonly string[]).map(check);
    else options[name] = typeof value === 'string' ? check(value) : undefined;
  }
  for (const [key, flag] of Object.entries(flags)) {
    options[key] = isSwitch(flag)
      ? (values[key] ?? flag.negated ?? false)
      : checkFlag(key, flag, values[key]);
  }
  const settled = { ...options, ...settle?.(options as never) };
  rejectContradictions({ arguments: args, flags }, values, settled);
  return settled;
}

function checkFlag(key: string, flag: ValueFlag<unknown>, typed: unknown): unknown {
  const label = longName(key, flag);
  if (flag.repeatable === true) {
    return ((typed ?? []) as readonly string[]).map((value) => checkValue(flag.type, value, label));
  }
  const value = typed === true ? flag.bare : (typed ?? flag.default);
  return typeof value === 'string' ? checkValue(flag.type, value, label) : undefined;
}

/** Throws a `UsageError` that begins with `label` for a text that is no value of that type. */
export function checkValue(type: ValueType<unknown>, text: string, label: string): unknown {
  const value = type.parse(text);
  if (value !== undefined) return value;
  if (text === '')
    throw new UsageError(`${label}: the value is empty`, { hint: `it must be ${type.expected}` });
  const error = type.errorFor?.(text);
  if (error !== undefined) throw error;
  const quoted = type.isHidden === true ? 'that' : `'${withoutCredentials(text)}'`;
  const meant = type.suggest?.(text);
  throw new UsageError(`${label}: ${quoted} is not ${type.expected}`, {
    hint: meant === undefined ? didYouMean(text, type.choices ?? []) : `did you mean '${meant}'?`,
  });
}

/** Replaces `user:password@`, with a protocol before it or not. */
const withoutCredentials = (text: string): string => text.replace(/^(\w[\w+.-]*:\/\/)?\S*:\S*@/, '$1…@');

/** Adds the zone of the settings where a command has `--zone` and none was typed. */
async function withZone(
  flags: Flags,
  options: Record<string, unknown>,
  context: Context,
): Promise<Record<string, unknown>> {
  if (!('zone' in flags) || options['zone'] !== undefined) return options;
  return { ...options, zone: (await context.settings()).zone };
}

/** `--json` as `--format json`; beside `--format table` it is a contradiction. */
function expandShortForms(flags: Flags, typed: TypedValues): TypedValues {
  const values: Record<string, unknown> = { ...typed };
  for (const [key, flag] of Object.entries(flags)) {
    const { shortFor } = flag as Switch;
    if (shortFor === undefined || typed[key] !== true) continue;
    const [target, value] = shortFor;
    const typedValue = typed[target];
    const { parse } = (flags[target] as ValueFlag<unknown>).type;
    // A wrong value is kept, so that it is the error to report.
    if (typeof typedValue === 'string' && typedValue !== value && parse(typedValue) !== undefined) {
      throw new UsageError(`--${flagName(key)} and --${flagName(target)} ${typedValue} do not go together`, {
        hint: `--${flagName(key)} is short for --${flagName(target)} ${value}`,
      });
    }
    values[target] = typedValue ?? value;
  }
  return values;
}

/**
 * Throws a `UsageError` for the first flag that lacks one of its `with`, or meets one of its `without`, and for stdin that
 * would be read twice. `typed` is text by option name, and `options` holds the values that were made of it.
 */
function rejectContradictions(declared: Declared, typed: TypedValues, options: TypedValues): void {
  rejectSharedStdin(declared, typed);
  const { flags } = declared;
  /** `condition` is an element of `with` or `without`: `--follow`, `--format json`, or the name of an argument. */
  const isMet = (condition: string): boolean => {
    const [name = '', value] = condition.split(' ');
    const [key, flag] = flagNamed(flags, name) ?? [name];
    return value === undefined ? isGiven(flag, typed[key], options[key]) : String(options[key]) === value;
  };
  for (const [key, flag] of Object.entries(flags)) {
    if (!isGiven(flag, typed[key], options[key])) continue;
    const name = longName(key, flag);
    const unmet = flag.with?.map(alternatives).find((conditions) => !conditions.some(isMet));
    if (unmet !== undefined) {
      throw new UsageError(`${name} needs ${orList(unmet)}`, { hint: hintToMeet(unmet, flags) });
    }
    const excluded = flag.without?.find(isMet);
    if (excluded !== undefined) {
      const label = excluded.startsWith('-') ? excluded : excluded.toUpperCase();
      const choices = choicesBeside(flag, flags, excluded);
      const hint = choices === undefined ? 'leave one of them out' : `with ${name}, ${choices}`;
      throw new UsageError(`${name} and ${label} do not go together`, { hint });
    }
  }
}

const alternatives = (conditions: string): readonly string[] => conditions.split(' | ');

const flagNamed = (flags: Flags, name: string): [key: string, flag: Flag] | undefined =>
  Object.entries(flags).find((entry) => longName(...entry) === name);

/** A flag may need one of seven others: the hint of one line names the first two. */
const hintedAlternatives = 2;

function hintToMeet(unmet: readonly string[], flags: Flags): string {
  const namesValue = unmet.some((condition) => condition.includes(' '));
  const terms = unmet.slice(0, hintedAlternatives).flatMap((condition) => termsOf(condition, flags));
  return `${namesValue ? 'use' : 'add'} ${orList(terms)}`;
}

/** The ways to type what meets a condition: `--bookmark <file>`, or `--from inbox` and `--from service`. */
function termsOf(condition: string, flags: Flags): readonly string[] {
  const [key = '', flag] = flagNamed(flags, condition) ?? [];
  if (flag === undefined) return [condition];
  const choices = isSwitch(flag) || flag.choicesShown === false ? undefined : flag.type.choices;
  return choices?.map((choice) => `${condition} ${choice}`) ?? [flagTerm(key, { ...flag, short: undefined })];
}

/** The other values of the flag that `excluded` names with a value, which may be its default: `--format is table or csv`. */
function choicesBeside({ without = [] }: Flag, flags: Flags, excluded: string): string | undefined {
  const [name = '', value] = excluded.split(' ');
  const [, flag] = flagNamed(flags, name) ?? [];
  if (value === undefined || flag === undefined || isSwitch(flag)) return undefined;
  const choices = flag.type.choices?.filter((choice) => !without.includes(`${name} ${choice}`)) ?? [];
  return `${name} is ${orList(choices)}`;
}

/** Whether a person gave a flag or an argument, which is `undefined` for `flag`. A default is not given. */
const isGiven = (flag: Flag | undefined, typed: unknown, option: unknown): boolean =>
  flag !== undefined && isSwitch(flag)
    ? option === (flag.negated !== true)
    : typed !== undefined && option !== undefined && !(Array.isArray(option) && option.length === 0);

function rejectSharedStdin({ arguments: args, flags }: Declared, typed: TypedValues): void {
  const places = [
    ...Object.entries(args).map(([name, { type }]) => ({ key: name, name: name.toUpperCase(), type })),
    ...Object.entries(flags).flatMap(([key, flag]) =>
      isSwitch(flag) ? [] : [{ key, name: longName(key, flag), type: flag.type }],
    ),
  ];
  const readers = places.flatMap(({ key, name, type: { stdin } }) => {
    const texts = stdin === undefined ? [] : [typed[key]].flat().filter((text) => text === stdin);
    return texts.map(() => `${name} ${stdin ?? ''}`);
  });
  if (readers.length < 2) return;
  throw new UsageError(`stdin can be read only once, not for ${readers.join(' and ')}`, {
    hint: 'give a file in place of one of them',
  });
}
