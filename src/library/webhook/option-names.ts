import { nearest } from '../../output/suggest.ts';
import type { SchemeChoice, VerifyOptions } from './options.ts';

/** The names of all options: one that a type gets does not compile without a line here. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

export const choiceOptions: OptionNames<SchemeChoice> = {
  scheme: true,
  secrets: true,
  toleranceMs: true,
  publicUrl: true,
};

export const verifyOptions: OptionNames<VerifyOptions> = {
  ...choiceOptions,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  leadAt: true,
  idField: true,
  lead: true,
  now: true,
};

/**
 * Throws a `TypeError` for an option that is unknown, and for a number that is none: it would pass every check. Types say
 * the same, and JavaScript does not read them.
 */
export function checkOptions(
  options: Partial<VerifyOptions>,
  known: Readonly<Record<string, true>>,
  of: string,
): void {
  requireKnownOptions(options, known, of);
  const { now = 1, maxBodyBytes = 1, bodyTimeoutMs = 1 } = options;
  for (const [name, value] of Object.entries({ now, maxBodyBytes, bodyTimeoutMs })) {
    if (!Number.isFinite(value))
      throw new TypeError(`${name} is ${String(value)}, which is no finite number`);
  }
}

/** Throws a `TypeError` for an option that is unknown or misspelt, and for no options. `of`: what takes them. */
export function requireKnownOptions(
  options: unknown,
  known: Readonly<Record<string, true>>,
  of: string,
): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${of} takes its options as an object`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw unknownOption(unknown, Object.keys(known), of);
}

export function unknownOption(name: string, known: readonly string[], of: string): TypeError {
  const near = nearest(name, known);
  const help = near === undefined ? `the options are ${known.join(', ')}` : `did you mean '${near}'?`;
  return new TypeError(`${of} has no option '${name}': ${help}`);
}
