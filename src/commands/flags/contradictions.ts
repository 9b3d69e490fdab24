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
    const [key = name, flag] = flagNamed(flags, name);
    return value === undefined ? isGiven(flag, typed[key], options[key]) : String(options[key]) === value;
  };
  for (const [key, flag] of Object.entries(flags)) {
    if (!isGiven(flag, typed[key], options[key])) continue;
    const name = longName(key, flag);
    const missing = flag.with?.map(alternatives).find((words) => !words.some(isTrue));
    if (missing !== undefined) {
      const verb = missing.some((word) => word.includes(' ')) ? 'use' : 'add';
      const advice = `${verb} ${orList(missing.slice(0, 2).map((word) => termOf(flags, word)))}`;
      throw new UsageError(`${name} needs ${orList(missing)}`, { hint: advice });
    }
    const excluded = flag.without?.find(isTrue);
    if (excluded !== undefined) {
      const label = excluded.startsWith('-') ? excluded : excluded.toUpperCase();
      throw new UsageError(`${name} and ${label} do not go together`, {
        hint: choicesBeside(name, flag, flagNamed(flags, excluded.split(' ')[0])) ?? 'leave one of them out',
      });
    }
  }
}

const alternatives = (words: string): readonly string[] => words.split(' | ');

const flagNamed = (flags: Flags, name = ''): readonly [key: string, flag: Flag] | readonly [] =>
  Object.entries(flags).find(([key, flag]) => longName(key, flag) === name) ?? [];

/** A default counts for a value that another flag names, and not as a flag that was given. */
const isGiven = (flag: Flag | undefined, typed: unknown, option: unknown): boolean =>
  flag !== undefined && isSwitch(flag)
    ? option === (flag.negated !== true)
    : typed !== undefined && option !== undefined && !(Array.isArray(option) && option.length === 0);

/** With what a person has to choose: `--bookmark <file>`, or `--from inbox|service`. */
function termOf(flags: Flags, word: string): string {
  const [key, flag] = flagNamed(flags, word);
  if (flag === undefined) return word;
  const choices = isSwitch(flag) ? undefined : flag.type.choices;
  return choices === undefined
    ? flagTerm(key ?? '', { ...flag, short: undefined })
    : `${word} ${choices.join('|')}`;
}

/** The values that the contradicted flag may have beside this one, where they can be listed. */
function choicesBeside(
  name: string,
  { without = [] }: Flag,
  [key = '', contradicted]: ReturnType<typeof flagNamed>,
): string | undefined {
  if (contradicted === undefined || isSwitch(contradicted)) return undefined;
  const label = longName(key, contradicted);
  const choices =
    contradicted.type.choices?.filter((choice) => !without.includes(`${label} ${choice}`)) ?? [];
  return choices.length === 0 ? undefined : `with ${name}, ${label} is ${orList(choices)}`;
}

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
