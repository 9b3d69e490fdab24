import { nearest } from '../../messages/suggest.ts';

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

/** Throws a `TypeError` for one that is no finite number. */
export function requireNumbers(numbers: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isFinite(value))
      throw new TypeError(`${name} is ${String(value)}, which is no finite number`);
  }
}
