import { compact } from './bytes.ts';
import { replaceNumbers } from './exact.ts';

export const maxDiffNames = 20;

/** In characters: the name of a deeply nested field would fill the screen. */
const maxNameLength = 200;

/**
 * Returns dotted names of the fields whose values differ between two JSON texts, at most 20, each cut at 200
 * characters. White space, key order, escapes and the notation of numbers make no difference.
 */
export function payloadDiff(before: Uint8Array, after: Uint8Array): string[] {
  const names = new Set<string>();
  for (const { name } of payloadDifferences(before, after)) {
    if (names.add(name).size === maxDiffNames) break;
  }
  return [...names];
}

/**
 * `path` is the dotted path of the member, and `name` is the same with the indexes of elements; both are cut at 200
 * characters. The values are those of `parsePayload`; undefined where they are absent. `isElement`: it is an
 * element of an array.
 */
export interface Difference {
  readonly name: string;
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly isElement: boolean;
}

/** Yields the values that differ, in their order. It does not recurse, because a body may nest deeper than the stack. */
export function* payloadDifferences(before: Uint8Array, after: Uint8Array): Generator<Difference> {
  const top = { name: '', path: '', isElement: false };
  const stack: Difference[] = [{ ...top, before: parsePayload(before), after: parsePayload(after) }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { before: a, after: b } = next;
    if (a === b) continue;
    const isElement = Array.isArray(a);
    if (!isObject(a) || !isObject(b) || isElement !== Array.isArray(b)) {
      yield next;
      continue;
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].reverse();
    for (const key of keys) {
      const name = nameWithin(next.name, key);
      const path = isElement ? next.path : nameWithin(next.path, key);
      stack.push({ name, path, before: member(a, key), after: member(b, key), isElement });
    }
  }
}

/**
 * Yields the dotted path, without indexes, of each member at any depth; null values count only with
 * `withNull`.
 */
export function* payloadPaths(json: Uint8Array, withNull = false): Generator<string> {
  const stack: (readonly [path: string, value: unknown])[] = [['', parsePayload(json)]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [path, value] = next;
    if (!isObject(value)) continue;
    const isArray = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      if (inner === null && !withNull) continue;
      const innerPath = isArray ? path : nameWithin(path, key);
      if (!isArray) yield innerPath;
      stack.push([innerPath, inner]);
    }
  }
}

function nameWithin(parent: string, key: string): string {
  if (parent.endsWith('…')) return parent;
  const whole = parent === '' ? key : `${parent}.${key}`;
  return whole.length > maxNameLength ? `${whole.slice(0, maxNameLength)}…` : whole;
}

const member = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * Numbers become texts that start with this mark, because a double would round them; hardly another text starts
 * with it.
 */
const numberMark = '\u0000';

const parsePayload = (json: Uint8Array): unknown =>
  JSON.parse(
    replaceNumbers(compact(json).toString('utf8'), (number) => `"\\u0000${normalizeDecimal(number)}"`),
  );

/**
 * Returns the normal form of a JSON number, which `1.0`, `1` and `10e-1` share, without losing digits. A
 * number whose exponent is beyond safe integers stays as it is.
 */
function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  // A regular expression takes quadratic time on a long run of zeros.
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return Number.isSafeInteger(power) ? `${sign}${significant}e${power}` : text;
}

/** Returns the number in a value of `payloadDifferences` as a double; undefined for any other value. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'string' && value.startsWith(numberMark) ? Number(value.slice(1)) : undefined;
