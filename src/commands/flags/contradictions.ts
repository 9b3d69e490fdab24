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
 * would be read twice. `typed` is text by option name, and `options` is what it gives.
 */
export function rejectContradictions(declared: Declared, typed: TypedValues, options: TypedValues): void {
  rejectSharedStdin(declared, typed);
  const { flags } = declared;
  const isTrue = (word: string): boolean => {
    const [name = '', value] = word.split(' ');
    const [key, flag] = flagNamed(flags, name) ?? [name];
    return value === undefined ? isGiven(flag, typed[key], options[key]) : String(options[key]) === value;
  };
  for (const [key, flag] of Object.entries(flags)) {
    if (!isGiven(flag, typed[key], options[key])) continue;
    const name = longName(key, flag);
    const missing = flag.with?.map(alternatives).find((words) => !words.some(isTrue));
    if (missing !== undefined) {
      const verb = missing.some((word) => word.includes(' ')) ? 'use' : 'add';
      const hint = `${verb} ${orList(missing.slice(0, 2).map((word) => termOf(flags, word)))}`;
      throw new UsageError(`${name} needs ${orList(missing)}`, { hint });
    }
    const excluded = flag.without?.find(isTrue);
    if (excluded !== undefined) {
      const label = excluded.startsWith('-') ? excluded : excluded.toUpperCase();
      const choices = choicesBeside(flag, flags, excluded);
      const hint = choices === undefined ? 'leave one of them out' : `with ${name}, ${choices}`;
      throw new UsageError(`${name} and ${label} do not go together`, { hint });
    }
  }
}

const alternatives = (words: string): readonly string[] => words.split(' | ');

const flagNamed = (flags: Flags, name: string): [key: string, flag: Flag] | undefined =>
  Object.entries(flags).find((entry) => longName(...entry) === name);

/** With the value that has to be given: `--bookmark <file>`. */
function termOf(flags: Flags, word: string): string {
  const [key = '', flag] = flagNamed(flags, word) ?? [];
  return flag === undefined ? word : flagTerm(key, { ...flag, short: undefined });
}

/** The other values of the flag that `excluded` names with a value, which may be its default: `--format is table or csv`. */
function choicesBeside({ without = [] }: Flag, flags: Flags, excluded: string): string | undefined {
  const [name = '', value] = excluded.split(' ');
  const [, flag] = flagNamed(flags, name) ?? [];
  if (value === undefined || flag === undefined || isSwitch(flag)) return undefined;
  const choices = flag.type.choices?.filter((choice) => !without.includes(`${name} ${choice}`)) ?? [];
  return `${name} is ${orList(choices)}`;
}

/** A default counts for a value that another flag names, and not as a flag that was given. */
const isGiven = (flag: Flag | undefined, typed: unknown, option: unknown): boolean =>
  flag !== undefined && isSwitch(flag)
    ? option === (flag.negated !== true)
    : typed !== undefined && option !== undefined && !(Array.isArray(option) && option.length === 0);

function rejectSharedStdin({ arguments: args, flags }: Declared, typed: TypedValues): void {
  const readers = [
    ...Object.entries(args).map(([name, { type }]) => ({ key: name, name: name.toUpperCase(), type })),
    ...Object.entries(flags).flatMap(([key, flag]) =>
      isSwitch(flag) ? [] : [{ key, name: longName(key, flag), type: flag.type }],
    ),
  ].flatMap(({ key, name, type: { stdin } }) =>
    [typed[key]]
      .flat()
      .flatMap((text) => (stdin !== undefined && text === stdin ? [`${name} ${stdin}`] : [])),
  );
  if (readers.length < 2) return;
  throw new UsageError(`stdin can be read only once, not for ${readers.join(' and ')}`, {
    hint: 'give a file in place of one of them',
  });
}
