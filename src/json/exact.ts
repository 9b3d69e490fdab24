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

/** The value of a JSON text, its numbers as doubles; undefined for any other text. */
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

/** Valid JSON with its numbers replaced. Strings are skipped by hand: a regular expression fails on one of megabytes. */
export function replaceNumbers(json: string, replace: (number: string) => string): string {
  const token = /"|-?\d[\d.eE+-]*/g;
  let out = '';
  let copiedTo = 0;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    if (found[0] === '"') {
      token.lastIndex = endOfString(json, token.lastIndex);
      continue;
    }
    out += json.slice(copiedTo, found.index) + replace(found[0]);
    copiedTo = token.lastIndex;
  }
  return out + json.slice(copiedTo);
}

/** The position after a string; `offset` is the one after its opening quote. */
export function endOfString(json: string, offset: number): number {
  for (let quote = json.indexOf('"', offset); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return json.length;
}

/**
 * The normal form of a JSON number: `1.0`, `1` and `10e-1` have the same, and no digit is lost as in a double. A number
 * whose exponent is beyond safe integers is returned unchanged.
 */
export function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  // Not with a regular expression, which takes quadratic time on a long run of zeros.
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return Number.isSafeInteger(power) ? `${sign}${significant}e${power}` : text;
}
