import { compact } from '../json/compact.ts';
import { normalizeDecimal } from '../json/decimal.ts';
import { replaceNumbers } from '../json/numbers.ts';

const most = 20;

/** Of a name, in characters: one that nests a hundred thousand deep would fill the screen. */
const longest = 200;

/**
 * Dotted names of the fields whose values are not the same in both JSON texts, at most 20, each cut at 200 characters;
 * white space, key order, escapes and the way to write a number make no difference. Walks without recursion, since a
 * body may nest deeper than the stack.
 */
export function payloadDiff(before: Uint8Array, after: Uint8Array): string[] {
  const found = new Set<string>();
  const open: [name: string, before: unknown, after: unknown][] = [['', parse(before), parse(after)]];
  for (let next = open.pop(); next !== undefined && found.size < most; next = open.pop()) {
    const [name, a, b] = next;
    if (a === b) continue;
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      found.add(name);
      continue;
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].reverse();
    for (const key of keys) open.push([within(name, key), own(a, key), own(b, key)]);
  }
  return [...found];
}

/** As a repeated delivery tells them: nothing when there are none, `*` when the first payload is not there any more. */
export function differing(first: Uint8Array | undefined, body: Uint8Array): readonly string[] | undefined {
  if (first === undefined) return ['*'];
  const names = payloadDiff(first, body);
  return names.length === 0 ? undefined : names;
}

function within(name: string, key: string): string {
  if (name.endsWith('…')) return name;
  const whole = name === '' ? key : `${name}.${key}`;
  return whole.length > longest ? `${whole.slice(0, longest)}…` : whole;
}

const absent = Symbol('absent');

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : absent;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** A number is kept as text, behind a character that hardly begins a string: a double would round it. */
const parse = (json: Uint8Array): unknown =>
  JSON.parse(
    replaceNumbers(compact(json).toString('utf8'), (number) => `"\\u0000${normalizeDecimal(number)}"`),
  );
