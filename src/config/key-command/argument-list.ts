import type { ValueType } from '../value-types.ts';

/** A program and its arguments, as JSON. */
export const argumentList: ValueType<readonly string[]> = {
  parse: (typed) => {
    let list: unknown;
    try {
      list = JSON.parse(typed);
    } catch {
      return undefined;
    }
    if (!Array.isArray(list) || list.length === 0 || list[0] === '') return undefined;
    // No argument of a program can hold a NUL.
    return list.every((word) => typeof word === 'string' && !word.includes('\0'))
      ? (list as string[])
      : undefined;
  },
  expected: `a JSON array of a program and its arguments, such as '["pass","show","leads"]'`,
};
