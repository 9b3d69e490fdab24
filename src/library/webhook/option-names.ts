import { nearest } from '../../output/suggest.ts';
import type { SchemeChoice, VerifyOptions } from './options.ts';

/** All options of `T` as keys: a new option does not compile until its name is listed. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

export const choiceOptionNames: OptionNames<SchemeChoice> = {
  scheme: true,
  secrets: true,
  toleranceMs: true,
  publicUrl: true,
};

export const verifyOptionNames: OptionNames<VerifyOptions> = {
  ...choiceOptionNames,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  leadAt: true,
  idField: true,
  lead: true,
  now: true,
};

/**
 * Throws a `TypeError` for an unknown option, and for a number that is not finite: comparisons with NaN are false, so
 * that it would pass every check.
 */
export function checkOptions(
  options: Partial<VerifyOptions>,
  optionNames: Readonly<Record<string, true>>,
  owner: string,
): void {
  requireKnownOptions(options, optionNames, owner);
  // An option that is absent passes: any finite number stands for it.
  const { now = 1, maxBodyBytes = 1, bodyTimeoutMs = 1 } = options;
  for (const [name, value] of Object.entries({ now, maxBodyBytes, bodyTimeoutMs })) {
    if (!Number.isFinite(value))
      throw new TypeError(`${name} is ${String(value)}, which is no finite number`);
  }
}

/**
 * Throws a `TypeError` for an option that is unknown or misspelt, and for a value that is no object. `owner`
 * is the function that takes the options.
 */
export function requireKnownOptions(
  options: unknown,
  optionNames: Readonly<Record<string, true>>,
  owner: string,
): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${owner} takes its options as an object`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown !== undefined) throw unknownOption(unknown, Object.keys(optionNames), owner);
}

export function unknownOption(name: string, optionNames: readonly string[], owner: string): TypeError {
  const near = nearest(name, optionNames);
  const help = near === undefined ? `the options are ${optionNames.join(', ')}` : `did you mean '${near}'?`;
  return new TypeError(`${owner} has no option '${name}': ${help}`);
}
