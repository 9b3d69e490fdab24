import { bufferOf } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';

/** The usual ways in which a signed body differs from the received one; each completes "made over …". */
export const bodyFormTexts = {
  'no-line-break': 'the body without its line break at the end',
  'line-break': 'the body with a line break at its end',
  lf: 'the body with LF for CR LF',
  crlf: 'the body with CR LF for LF',
  'no-bom': 'the body without its byte order mark',
  bom: 'the body with a byte order mark before it',
  'json-stringify': 'the JSON written again without white space, as JSON.stringify does',
  minified: 'the JSON without its white space',
  'indent-2': 'the JSON written again with two blanks of indentation',
  python: 'the JSON written again as Python does, with json.dumps',
  'python-unicode': 'the JSON written again as Python does, with json.dumps and ensure_ascii=False',
  php: 'the JSON written again as PHP does, with json_encode',
  go: 'the JSON written again as Go does, with < > & escaped',
  empty: 'an empty body',
} as const;

export type BodyFormName = keyof typeof bodyFormTexts;

export const bodyFormNames = Object.keys(bodyFormTexts) as readonly BodyFormName[];

export interface BodyForm {
  readonly name: BodyFormName;
  readonly bytes: Buffer;
}

/**
 * Limits in bytes: above the first, only forms without parsing are tried; above the second none, since each
 * form is a copy.
 */
const maxParsed = 262_144;
const maxCopied = 4 * 1024 * 1024;

export function bodyForms(body: Uint8Array): readonly BodyForm[] {
  const raw = bufferOf(body);
  if (raw.length > maxCopied) return [];
  // In Latin-1 every byte is one character, so bytes that are not UTF-8 survive.
  const text = raw.toString('latin1');
  const edited = (changed: string): Buffer => Buffer.from(changed, 'latin1');
  const forms: BodyForm[] = [
    { name: 'no-line-break', bytes: edited(text.replace(/[\r\n]+$/, '')) },
    { name: 'line-break', bytes: edited(`${text}\n`) },
    { name: 'lf', bytes: edited(text.replaceAll('\r\n', '\n')) },
    { name: 'crlf', bytes: edited(text.replace(/\r?\n/g, '\r\n')) },
    { name: 'no-bom', bytes: edited(text.replace(/^\xef\xbb\xbf/, '')) },
    { name: 'bom', bytes: edited(`\xef\xbb\xbf${text}`) },
    ...(raw.length > maxParsed ? [] : jsonForms(raw.toString('utf8').replace(/^\ufeff/, ''))),
    { name: 'empty', bytes: Buffer.alloc(0) },
  ];
  return forms.filter(({ bytes }, i) => {
    const isFirst = forms.findIndex((form) => form.bytes.equals(bytes)) === i;
    return isFirst && !raw.equals(bytes);
  });
}

function jsonForms(json: string): readonly BodyForm[] {
  const value = isTooDeep(json) ? undefined : jsonIn(json);
  if (value === undefined) return [];
  const form = (name: BodyFormName, text: string): BodyForm => ({ name, bytes: Buffer.from(text) });
  const tight = { comma: ',', colon: ':' };
  const python = { comma: ', ', colon: ': ', number: pythonNumber };
  const php = (string: string): string => withUnicodeEscapes(string).replaceAll('/', '\\/');
  const javascriptNumber = (number: string): string => JSON.stringify(Number(number));
  return [
    form('json-stringify', JSON.stringify(value)),
    form('minified', rewriteJson(json, tight)),
    ...(json.length > maxParsed / 8 ? [] : [form('indent-2', JSON.stringify(value, null, 2))]),
    form('python', rewriteJson(json, { ...python, string: withUnicodeEscapes })),
    form('python-unicode', rewriteJson(json, python)),
    form('php', rewriteJson(json, { ...tight, string: php, number: phpNumber })),
    form('go', rewriteJson(json, { ...tight, string: htmlSafe, number: javascriptNumber })),
  ];
}

/**
 * Beyond this depth, `JSON.parse` can read a text but `JSON.stringify` would exhaust the stack. No lead is so
 * deep.
 */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > 200) return true;
  }
  return false;
}

interface JsonStyle {
  readonly comma: string;
  readonly colon: string;
  readonly string?: (json: string) => string;
  readonly number?: (text: string) => string;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[,:]|[^\s",:]/gs;

/** Works token by token, so that numbers which JavaScript does not hold stay exact. */
export function rewriteJson(json: string, style: JsonStyle): string {
  const { comma, colon, string = same, number = same } = style;
  let result = '';
  for (const [token] of json.matchAll(tokens)) {
    if (token === ',') result += comma;
    else if (token === ':') result += colon;
    else if (token.startsWith('"')) result += string(JSON.stringify(JSON.parse(token)));
    else result += /^[-\d]/.test(token) ? number(token) : token;
  }
  return result;
}

const same = (text: string): string => text;

const htmlSafe = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, unicodeEscape);

const withUnicodeEscapes = (json: string): string => json.replace(/[\u0080-\uffff]/g, unicodeEscape);

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Python writes whole numbers digit by digit, others as `repr` does. */
export function pythonNumber(text: string): string {
  if (!/[.eE]/.test(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const digits = Object.is(value, -0) ? '-0' : String(value);
  return digits.includes('.') ? digits : `${digits}.0`;
}

/** PHP writes integers of 64 bits digit by digit, others with as many digits as they need. */
export function phpNumber(text: string): string {
  if (!/[.eE]/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e17)) return String(value);
  return value.toExponential().replace(/^(-?\d)e/, '$1.0e');
}
