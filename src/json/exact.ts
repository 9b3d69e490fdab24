import { replaceNumbers } from './numbers.ts';

/** A parsed JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Parses JSON. Integers that a double cannot represent become strings of their digits: a cursor or an id must not change.
 * Throws a `SyntaxError` for text that is not JSON.
 */
export function parseExact(json: string): Json {
  if (!/\d{16}/.test(json)) return JSON.parse(json) as Json;
  return JSON.parse(
    replaceNumbers(json, (token) =>
      /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
    ),
  ) as Json;
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a JSON Pointer (RFC 6901), given as its reference tokens. */
export function valueAt(root: Json | undefined, path: readonly string[]): Json | undefined {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Json[])[/^\d+$/.test(step) ? Number(step) : -1];
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

/** The decoded reference tokens of a JSON Pointer; undefined for other text (RFC 6901, section 3). */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function formatPointer(path: readonly string[]): string {
  return path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
