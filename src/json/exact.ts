export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Parses JSON. Integers that a double cannot represent become strings of their digits, because a cursor or an
 * id must not change. Throws a `SyntaxError` for text that is not JSON.
 */
export function parseExact(json: string): Json {
  if (!/\d{16}/.test(json)) return JSON.parse(json) as Json;
  return JSON.parse(
    replaceNumbers(json, (token) =>
      /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
    ),
  ) as Json;
}

/** Returns undefined for a text that is not JSON; large integers are rounded. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function valueAt(root: Json | undefined, path: readonly string[]): Json | undefined {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Json[])[/^\d+$/.test(step) ? Number(step) : -1];
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

/**
 * Returns the decoded reference tokens of a JSON Pointer; undefined for any other text (RFC 6901, section 3).
 */
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

/**
 * Replaces the numbers of valid JSON. It skips strings by hand, because a regular expression fails on one of
 * megabytes.
 */
export function replaceNumbers(json: string, replace: (number: string) => string): string {
  const token = /"|-?\d[\d.eE+-]*/g;
  let out = '';
  let copiedTo = 0;
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    if (match[0] === '"') {
      token.lastIndex = endOfString(json, token.lastIndex);
      continue;
    }
    out += json.slice(copiedTo, match.index) + replace(match[0]);
    copiedTo = token.lastIndex;
  }
  return out + json.slice(copiedTo);
}

export function endOfString(json: string, offset: number): number {
  for (let quote = json.indexOf('"', offset); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return json.length;
}

/** The names of members are compared without case and signs: `next_cursor`, `nextCursor` and `next-cursor` are one. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * A member of an object or of one inside it. `plain` and `parent` are the plain names of the member and of the member
 * around it, `place` is its dotted path, such as `meta.next`, and `depth` is 0 at the top.
 */
export interface Member {
  readonly name: string;
  readonly plain: string;
  readonly place: string;
  readonly parent: string;
  readonly depth: number;
  readonly value: Json;
}

/** Returns the members of an object and, below each one, those of the object that `enter` returns for it. */
export function membersOf(root: Json | undefined, enter: (member: Member) => Json | undefined): Member[] {
  const members: Member[] = [];
  const collect = (object: Json | undefined, around: Member | undefined): void => {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object)) {
      const place = around === undefined ? name : `${around.place}.${name}`;
      const depth = around === undefined ? 0 : around.depth + 1;
      const member = { name, plain: plainName(name), place, parent: around?.plain ?? '', depth, value };
      members.push(member);
      collect(enter(member), member);
    }
  };
  collect(root, undefined);
  return members;
}
