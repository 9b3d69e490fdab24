import { compact } from '../lead/compact.ts';
import { parseExact } from '../lead/exact.ts';

const most = 20;

/**
 * Dotted names of the fields whose values are not the same in both JSON texts, at most 20; white space, key order and
 * escapes make no difference. Walks without recursion, since a body may nest deeper than the stack.
 */
export function differences(before: Uint8Array, after: Uint8Array): string[] {
  const found: string[] = [];
  const open: [name: string, before: unknown, after: unknown][] = [['', parse(before), parse(after)]];
  for (let next = open.pop(); next !== undefined && found.length < most; next = open.pop()) {
    const [name, a, b] = next;
    if (a === b) continue;
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      found.push(name);
      continue;
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].reverse();
    for (const key of keys) open.push([name === '' ? key : `${name}.${key}`, own(a, key), own(b, key)]);
  }
  return found;
}

const absent = Symbol('absent');

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : absent;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const parse = (json: Uint8Array): unknown => parseExact(Buffer.from(compact(json)).toString('utf8'));
