import { compact } from './bytes.ts';
import { normalizeDecimal, replaceNumbers } from './exact.ts';

/** The most names that a list of differences has. */
export const mostDiffNames = 20;

/** In characters: the name of a field that nests a hundred thousand deep would fill the screen. */
const maxNameLength = 200;

/**
 * Dotted names of the fields whose values are not the same in both JSON texts, at most 20, each cut at 200 characters;
 * white space, key order, escapes and the way a number is written make no difference.
 */
export function payloadDiff(before: Uint8Array, after: Uint8Array): string[] {
  const names = new Set<string>();
  for (const { name } of payloadDifferences(before, after)) {
    if (names.add(name).size === mostDiffNames) break;
  }
  return [...names];
}

/** A value that is not the same in both texts. */
export interface Difference {
  /** Dotted, with the places of elements, cut at 200 characters. */
  readonly name: string;
  /** The same without the places of elements. */
  readonly path: string;
  /** The value that `parsePayload` gives; undefined where it is absent. */
  readonly before: unknown;
  readonly after: unknown;
  /** It is an element of an array, not a member of an object. */
  readonly isElement: boolean;
}

/** Walks without recursion, since a body may nest deeper than the stack. */
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

/** Gives the dotted path, without places of elements, of each member of an object, at any depth; of null only with `withNull`. */
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

/** Stands in front of a number; real text hardly starts with it. */
const numberMark = '\u0000';

/** A number is kept as text, since a double would round it. */
const parsePayload = (json: Uint8Array): unknown =>
  JSON.parse(
    replaceNumbers(compact(json).toString('utf8'), (number) => `"\\u0000${normalizeDecimal(number)}"`),
  );

/** The number that a value of `payloadDifferences` is, as a double; undefined for all else. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'string' && value.startsWith(numberMark) ? Number(value.slice(1)) : undefined;
