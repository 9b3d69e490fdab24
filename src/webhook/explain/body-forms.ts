import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { bufferOf } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';
import type { BodyFormName } from './body-form-names.ts';

/** A body that the sender may have signed instead of the one that was received. */
export interface BodyForm {
  readonly name: BodyFormName;
  readonly bytes: Uint8Array;
}

/** In bytes. Above this, only forms that need no parsing are tried. */
const maxParsed = 262_144;

/** In bytes. Above this, no form but the received one is tried: each is a copy. */
const maxCopied = 4 * 1024 * 1024;

/** An explanation looks through them up to three times. */
const made = new WeakMap<Uint8Array, readonly BodyForm[]>();

/** The usual ways in which a signed body and a received body differ; the received body itself is not among them. */
export function bodyForms(body: Uint8Array): readonly BodyForm[] {
  const forms = made.get(body) ?? formsOf(body);
  made.set(body, forms);
  return forms;
}

function formsOf(body: Uint8Array): readonly BodyForm[] {
  const raw = bufferOf(body);
  const forms: BodyForm[] = [];
  const add = (name: BodyFormName, bytes: Buffer | undefined): void => {
    if (bytes === undefined || raw.equals(bytes)) return;
    if (!forms.some((form) => Buffer.compare(form.bytes, bytes) === 0)) forms.push({ name, bytes });
  };
  if (raw.length > maxCopied) return forms;
  // As Latin-1, every byte is one character: what is not UTF-8 survives.
  const bytes = raw.toString('latin1');
  const text = raw.toString('utf8');
  const edited = (changed: string): Buffer => Buffer.from(changed, 'latin1');
  add('no-line-break', edited(bytes.replace(/[\r\n]+$/, '')));
  add('line-break', edited(`${bytes}\n`));
  add('crlf-line-break', edited(`${bytes}\r\n`));
  add('lf', edited(bytes.replaceAll('\r\n', '\n')));
  add('crlf', edited(bytes.replace(/\r?\n/g, '\r\n')));
  add('no-bom', edited(bytes.replace(/^\xef\xbb\xbf/, '')));
  add('bom', edited(`\xef\xbb\xbf${bytes}`));
  // Behind the smaller changes: what was written again as JSON has lost its byte order mark and line breaks too.
  if (raw.length <= maxParsed) {
    for (const [name, json] of jsonForms(text)) add(name, Buffer.from(json));
  }
  add('decompressed', decompress(raw));
  add('utf8-replaced', Buffer.from(text));
  add('utf8-twice', Buffer.from(bytes, 'utf8'));
  add('latin1', inLatin1(text));
  add('empty', Buffer.alloc(0));
  return forms;
}

/** Undefined for a text that Latin-1 cannot hold. */
const inLatin1 = (text: string): Buffer | undefined =>
  /[^\u0000-\u00ff]/.test(text) ? undefined : Buffer.from(text, 'latin1');

/** In bytes: a few hundred bytes can decompress to gigabytes. */
const maxOutputLength = 4 * 1024 * 1024;

/** What a compressed body holds (gzip, deflate or brotli); undefined for a body that is none of these, or too large. */
function decompress(body: Uint8Array): Buffer | undefined {
  const [first = 0, second = 0] = body;
  const expand =
    first === 0x1f && second === 0x8b ? gunzipSync : first === 0x78 ? inflateSync : brotliDecompressSync;
  // Brotli has no mark at its start; what begins like text is not worth the attempt.
  if (body.length < 4 || (expand === brotliDecompressSync && /[\s"[{]/.test(String.fromCharCode(first)))) {
    return undefined;
  }
  try {
    return expand(body, { maxOutputLength });
  } catch {
    return undefined;
  }
}

/** The JSON of a body as the usual languages and libraries write it; nothing for what is no JSON. */
function jsonForms(text: string): readonly (readonly [BodyFormName, string])[] {
  const value = isTooDeep(text) ? undefined : jsonIn(text.replace(/^\ufeff/, ''));
  if (value === undefined) return [];
  const tight = { comma: ',', colon: ':' };
  const python = { comma: ', ', colon: ': ', number: pythonNumber };
  const compact = JSON.stringify(value);
  const sorted = JSON.stringify(withSortedKeys(value));
  const [own, inOrder] = [tokensOf(text), tokensOf(sorted)];
  const jsNumber = (number: string): string => JSON.stringify(Number(number));
  const slashed = (string: string): string => string.replaceAll('/', '\\/');
  const php = (string: string): string => slashed(withUnicodeEscapes(string));
  return [
    ['json-stringify', compact],
    ['minified', rewriteJson(own, tight)],
    ...(isShortIndented(text)
      ? ([
          ['indent-2', JSON.stringify(value, null, 2)],
          ['indent-4', JSON.stringify(value, null, 4)],
        ] as const)
      : []),
    ['python', rewriteJson(own, { ...python, string: withUnicodeEscapes })],
    ['python-unicode', rewriteJson(own, python)],
    ['ascii', rewriteJson(own, { ...tight, string: withUnicodeEscapes })],
    ['php', rewriteJson(own, { ...tight, string: php, number: phpNumber })],
    ['php-unicode', rewriteJson(own, { ...tight, string: slashed, number: phpNumber })],
    ['go', rewriteJson(own, { ...tight, string: htmlSafe, number: jsNumber })],
    ['rails', rewriteJson(own, { ...tight, string: htmlSafe, number: pythonNumber })],
    ['dotnet', rewriteJson(own, { ...tight, string: dotnetString })],
    ['sorted', sorted],
    ['python-sorted', rewriteJson(inOrder, { ...python, string: withUnicodeEscapes })],
    ['go-sorted', rewriteJson(inOrder, { ...tight, string: htmlSafe, number: jsNumber })],
    ...(typeof value === 'string' ? [['unquoted', value] as const] : []),
  ];
}

/** Deeper nesting than in any lead: `JSON.parse` reads it, but writing it again would exhaust the stack. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > 200) return true;
  }
  return false;
}

/** A few hundred kilobytes of short members deep inside would be indented to a hundred megabytes. */
function isShortIndented(text: string): boolean {
  let depth = 0;
  let blanks = 0;
  for (const [token] of text.matchAll(/[[\]{},]/g)) {
    if (token !== ',') depth += token === '[' || token === '{' ? 1 : -1;
    blanks += 4 * depth;
    if (blanks > 4 * maxParsed) return false;
  }
  return true;
}

const htmlSafe = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, unicodeEscape);

/** `\"` as `\u0022`, and hexadecimal digits in capitals. */
const dotnetString = (json: string): string =>
  `"${json
    .slice(1, -1)
    .replaceAll('\\"', '\\u0022')
    .replace(
      /[<>&'+`\u007f-\uffff]/g,
      (character) => `\\u${unicodeEscape(character).slice(2).toUpperCase()}`,
    )}"`;

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedKeys(member)]));
}

/** How one language writes JSON. */
interface JsonStyle {
  /** Between two members of an object or list. */
  readonly comma: string;
  /** Between a name and its value. */
  readonly colon: string;
  /** A string as `JSON.stringify` writes it, as this language writes it. Default: the same. */
  readonly string?: (json: string) => string;
  /** A number from the text that was received. Default: the same text. */
  readonly number?: (text: string) => string;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[,:]|[^\s",:]/gs;

/** The tokens of `json`, which must be valid; strings are as `JSON.stringify` writes them. */
const tokensOf = (json: string): readonly string[] =>
  (json.replace(/^\ufeff/, '').match(tokens) ?? []).map((token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
  );

/**
 * The same JSON as another language writes it, with its members in the same order. Token by token, so that numbers which
 * JavaScript does not hold stay exact.
 */
export function rewriteJson(json: string | readonly string[], style: JsonStyle): string {
  const { comma, colon, string = same, number = same } = style;
  let written = '';
  for (const token of typeof json === 'string' ? tokensOf(json) : json) {
    const first = token.charCodeAt(0);
    if (token === ',') written += comma;
    else if (token === ':') written += colon;
    else if (first === 0x22) written += string(token);
    else written += first === 0x2d || (first >= 0x30 && first <= 0x39) ? number(token) : token;
  }
  return written;
}

const same = (text: string): string => text;

/** Every character beyond ASCII as `\u` and four hexadecimal digits, in small letters. */
const withUnicodeEscapes = (json: string): string => json.replace(/[\u0080-\uffff]/g, unicodeEscape);

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A number as Python writes it: whole numbers digit by digit, others as `repr` does. */
export function pythonNumber(text: string): string {
  if (!/[.eE]/.test(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const written = Object.is(value, -0) ? '-0' : String(value);
  return written.includes('.') ? written : `${written}.0`;
}

/** A number as PHP writes it: integers of 64 bits digit by digit, others with as many digits as they need. */
export function phpNumber(text: string): string {
  if (!/[.eE]/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e17)) return String(value);
  return value.toExponential().replace(/^(-?\d)e/, '$1.0e');
}
