import { compact } from '../json/bytes.ts';
import { normalizeDecimal, replaceNumbers } from '../json/numbers.ts';

const maxNames = 20;

/** In characters: the name of a field that nests a hundred thousand deep would fill the screen. */
const maxNameLength = 200;

/**
 * Dotted names of the fields whose values are not the same in both JSON texts, at most 20, each cut at 200 characters;
 * white space, key order, escapes and the way a number is written make no difference. Walks without recursion, since a
 * body may nest deeper than the stack.
 */
export function payloadDiff(before: Uint8Array, after: Uint8Array): string[] {
  const names = new Set<string>();
  const compared: [name: string, before: unknown, after: unknown][] = [['', parse(before), parse(after)]];
  for (let next = compared.pop(); next !== undefined && names.size < maxNames; next = compared.pop()) {
    const [name, a, b] = next;
    if (a === b) continue;
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      names.add(name);
      continue;
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].reverse();
    for (const key of keys) compared.push([nameWithin(name, key), own(a, key), own(b, key)]);
  }
  return [...names];
}

function nameWithin(parent: string, key: string): string {
  if (parent.endsWith('…')) return parent;
  const whole = parent === '' ? key : `${parent}.${key}`;
  return whole.length > maxNameLength ? `${whole.slice(0, maxNameLength)}…` : whole;
}

const absent = Symbol('absent');

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : absent;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** A number is kept as text, since a double would round it, behind a character that real text hardly starts with. */
const parse = (json: Uint8Array): unknown =>
  JSON.parse(
    replaceNumbers(compact(json).toString('utf8'), (number) => `"\\u0000${normalizeDecimal(number)}"`),
  );
