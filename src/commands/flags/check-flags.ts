import type { ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { didYouMean } from '../help/suggest.ts';
import {
  argumentTerm,
  type Arguments,
  type Flags,
  flagName,
  isSwitch,
  longName,
  type Switch,
  type ValueFlag,
} from './flag.ts';

/** What was typed, by option name: text, texts, true for a flag without a value, false for `--no-NAME`. */
export type TypedValues = Readonly<Record<string, unknown>>;

/** Typed words as checked options. Throws a `UsageError` that names the flag, what was typed and what is expected. */
export function checkOptions(args: Arguments, flags: Flags, typed: TypedValues): Record<string, unknown> {
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
      ? (values[key] ?? (flag.eitherWay === true ? undefined : (flag.negated ?? false)))
      : checkFlag(key, flag, values[key] ?? values[flag.olderName ?? '']);
  }
  return options;
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
  throw new UsageError(`${label}: '${withoutCredentials(text)}' is not ${type.expected}`, {
    hint: didYouMean(text, type.choices ?? []),
  });
}

/** What is typed where a URL is expected may hold `user:password@`. */
const withoutCredentials = (text: string): string => text.replace(/^(\w[\w+.-]*:\/\/)?\S*:\S*@/, '$1…@');

/** `--json` as `--format json`; beside `--format table` it is a contradiction. */
function expandShortForms(flags: Flags, typed: TypedValues): TypedValues {
  const values: Record<string, unknown> = { ...typed };
  for (const [key, flag] of Object.entries(flags)) {
    const { shortFor } = flag as Switch;
    if (shortFor === undefined || typed[key] !== true) continue;
    const [target, value] = shortFor;
    const before = typed[target];
    const known = (flags[target] as ValueFlag<unknown>).type.parse;
    // An unknown value is the error to report first.
    if (typeof before === 'string' && before !== value && known(before) !== undefined) {
      throw new UsageError(`--${flagName(key)} and --${flagName(target)} ${before} do not go together`, {
        hint: `--${flagName(key)} is short for --${flagName(target)} ${value}`,
      });
    }
    values[target] = before ?? value;
  }
  return values;
}
