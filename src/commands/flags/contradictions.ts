import { UsageError } from '../../errors.ts';
import {
  type Arguments,
  type Flag,
  type Flags,
  flagTerm,
  isSwitch,
  longName,
  orList,
  type TypedValues,
} from './flag.ts';

interface Declared {
  readonly arguments: Arguments;
  readonly flags: Flags;
}

/**
 * Throws a `UsageError` for the first flag that lacks one of its `with`, or meets one of its `without`, and for stdin that
 * would be read twice. `typed` is text by option name, and `options` holds the values that were made of it.
 */
export function rejectContradictions(declared: Declared, typed: TypedValues, options: TypedValues): void {
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
    : typed !== undefined && option !== undefined && !isEmptyList(option);

const isEmptyList = (option: unknown): boolean => Array.isArray(option) && option.length === 0;

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
