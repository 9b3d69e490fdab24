import { compact } from './bytes.ts';
import { replaceNumbers } from './exact.ts';

export const mostDiffNames = 20;

/** In characters: the name of a deeply nested field would fill the screen. */
const maxNameLength = 200;

/**
 * Returns dotted names of the fields whose values differ between two JSON texts, at most 20, each cut at 200
 * characters. White space, key order, escapes and the notation of numbers make no difference.
 */
export function payloadDiff(before: Uint8Array, after: Uint8Array): string[] {
  const names = new Set<string>();
  for (const { name } of payloadDifferences(before, after)) {
    if (names.add(name).size === mostDiffNames) break;
  }
  return [...names];
}

export interface Difference {
  /** The dotted path with the indexes of elements, cut at 200 characters. */
  readonly name: string;
  readonly path: string;
  /** The value that `parsePayload` returns; undefined where it is absent. */
  readonly before: unknown;
  readonly after: unknown;
  readonly isElement: boolean;
}

/** It does not recurse, because a body may nest deeper than the stack. */
export function* payloadDifferences(before: Uint8Array, after: Uint8Array): Generator<Difference> {
  const top = { name: '', path: '', isElement: false };
  const queue: Difference[] = [{ ...top, before: parsePayload(before), after: parsePayload(after) }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
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
      queue.push({ name, path, before: member(a, key), after: member(b, key), isElement });
    }
  }
}

/**
 * Yields the dotted path, without indexes, of each member at any depth; null values count only with
 * `withNull`.
 */
export function* payloadPaths(json: Uint8Array, withNull = false): Generator<string> {
  const queue: (readonly [path: string, value: unknown])[] = [['', parsePayload(json)]];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [path, value] = next;
    if (!isObject(value)) continue;
    const isArray = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      if (inner === null && !withNull) continue;
      const within = isArray ? path : nameWithin(path, key);
      if (!isArray) yield within;
      queue.push([within, inner]);
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

/** Marks a number in a parsed text; other texts hardly start with it. */
const numberMark = '\u0000';

/** Numbers become marked texts, because a double would round them. */
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
