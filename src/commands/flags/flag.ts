import { anyText, text, type ValueType } from '../../config/value-types.ts';

/**
 * - `help`: its meaning; the choices, the default and so on are added when help is shown
 * - `short`: a letter: `o` is `-o`
 * - `aliases`: other names that people type, such as `--status`; the error for one names this flag
 * - `group`: its heading in help, "Options" by default
 * - `with`: the flags that it needs, each as it is typed, with a value if only that one will do; `--bookmark | --follow` is one
 *   or the other
 * - `without`: the flags that contradict it, each as it is typed: `--until`, `--format json`; an argument by its name
 */
interface AnyFlag {
  readonly help?: string | undefined;
  readonly short?: string | undefined;
  readonly aliases?: readonly string[];
  readonly group?: string;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}

/** Text or texts by option name, true for a flag without a value, false for `--no-NAME`. */
export type TypedValues = Readonly<Record<string, unknown>>;

/**
 * A flag without a value; its option is a boolean.
 * - `negated`: it is typed as `--no-NAME`, and the option is true without it
 * - `shortFor`: it means another flag with a value: `--json` is `--format json`
 */
export interface Switch extends AnyFlag {
  readonly negated?: true;
  readonly shortFor?: readonly [flag: string, value: string];
}

/**
 * A flag with a value of type `T`.
 * - `value`: the name of the value in help: `n` is shown as `<n>`
 * - `default`: the value without the flag, as a person would type it
 * - `otherwise`: in words, the meaning of an undefined option
 * - `bare`: the value of a flag that is typed without one, as `--follow`
 * - `joined`, only with `bare`: a value must be joined by `=`, so that the word after the flag is never taken for it
 * - `choicesShown`: false if there are too many choices for help
 * - `setting`: the setting of the profile that holds without the flag; its environment variable goes before it
 * - `variable`: an environment variable that holds without the flag, and belongs to no setting
 */
export interface ValueFlag<T> extends AnyFlag {
  readonly value: string;
  readonly type: ValueType<T>;
  readonly repeatable?: true;
  readonly default?: string;
  readonly otherwise?: string | undefined;
  readonly bare?: string;
  readonly joined?: true;
  readonly choicesShown?: false;
  readonly setting?: string;
  readonly variable?: string;
}

/** Parsing, checks, help, man pages, completion and the option's type come from this declaration. */
export type Flag = Switch | ValueFlag<unknown>;

/** By option name: `pageSize` is `--page-size`. */
export type Flags = Readonly<Record<string, Flag>>;

/** A word without a flag: `leads show ID`. */
export interface Argument<T = unknown> {
  readonly help: string;
  readonly type: ValueType<T>;
  readonly optional?: true;
  readonly repeatable?: true;
}

export type Arguments = Readonly<Record<string, Argument>>;

type OptionOf<F> = F extends { readonly type: ValueType<infer T> }
  ? F extends { readonly repeatable: true }
    ? readonly T[]
    : F extends { readonly default: string }
      ? T
      : T | undefined
  : boolean;

export type OptionsOf<F extends Flags> = { readonly [K in keyof F]: OptionOf<F[K]> };

type ArgumentOf<A> = A extends { readonly type: ValueType<infer T> }
  ? A extends { readonly repeatable: true }
    ? readonly T[]
    : A extends { readonly optional: true }
      ? T | undefined
      : T
  : never;

export type ArgumentsOf<A extends Arguments> = { readonly [K in keyof A]: ArgumentOf<A[K]> };

export const isSwitch = (flag: Flag): flag is Switch => !('type' in flag);

const withShared = <F extends Flags>(flags: F, shared: Pick<AnyFlag, 'group' | 'with'>): F =>
  Object.fromEntries(Object.entries(flags).map(([key, flag]) => [key, { ...flag, ...shared }])) as F;

export const inGroup = <const F extends Flags>(group: string, flags: F): F => withShared(flags, { group });

/** Declares several flags that need the same other one, such as `--from`. */
export const needing = <const F extends Flags>(needed: string, flags: F): F =>
  withShared(flags, { with: [needed] });

export const orList = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;

export const flagName = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The name that is typed: `--page-size`, `--no-check`. */
export const longName = (key: string, flag: Flag): string =>
  isSwitch(flag) && flag.negated === true ? `--no-${flagName(key)}` : `--${flagName(key)}`;

/** The term in help: `-o, --output <file>`. */
export function flagTerm(key: string, flag: Flag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  if (isSwitch(flag)) return short + longName(key, flag);
  const value = flag.bare === undefined ? `<${flag.value}>` : `[${flag.value}]`;
  return `${short}${longName(key, flag)}${flag.joined === true ? `[=${flag.value}]` : ` ${value}`}`;
}

/** The term in help: `<key>`, `[value]`, `[id...]`. */
export function argumentTerm(name: string, { optional, repeatable }: Argument): string {
  const word = repeatable === true ? `${name}...` : name;
  return optional === true ? `[${word}]` : `<${word}>`;
}

const nonBlank: ValueType<string> = { ...text, parse: (typed) => typed.trim() || undefined };

/** The flags that every command takes, before and after its name. What their values mean is checked where settings are read. */
export const globalFlags = {
  profile: {
    value: 'name',
    type: nonBlank,
    help: 'which account of the configuration file',
    variable: 'LEADS_PROFILE',
  },
  baseUrl: { value: 'url', type: nonBlank, help: 'address of the service', setting: 'base-url' },
  timeout: {
    value: 'duration',
    type: anyText,
    help: 'to connect, to an answer, and between two parts of it',
    otherwise: '30s',
    setting: 'timeout',
  },
  retries: {
    value: 'n',
    type: anyText,
    help: 'how often a failed request is tried again',
    otherwise: '5',
    setting: 'retries',
  },
  verbose: { short: 'v', help: 'requests, retries and timings on stderr' },
  quiet: { short: 'q', help: 'only data, warnings and errors' },
  color: { negated: true, help: 'no colours' },
} satisfies Flags;

/** Global flags that are answered at once, whatever else was typed. */
export const immediateFlags = {
  version: { short: 'V', help: 'print the version' },
  help: { short: 'h', help: 'show help' },
} satisfies Flags;
