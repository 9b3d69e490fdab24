import { bufferOf } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';

/** A usual way in which a signed body differs from the received one; `text` completes "made over …". */
export interface BodyForm {
  readonly text: string;
  readonly bytes: Buffer;
}

/**
 * Limits in bytes. Each form is a copy, so a body above `maxCopied` has none. Indentation may make deep JSON many times
 * as long, so it has a limit of its own.
 */
const maxParsed = 262_144;
const maxIndented = maxParsed / 8;
const maxCopied = 4 * 1024 * 1024;

/** Returns the forms that differ from the body and from each other. */
export function bodyForms(body: Uint8Array): readonly BodyForm[] {
  const raw = bufferOf(body);
  if (raw.length > maxCopied) return [];
  // In Latin-1 every byte is one character, so bytes that are not UTF-8 survive.
  const text = raw.toString('latin1');
  const bytesOf = (changed: string): Buffer => Buffer.from(changed, 'latin1');
  const forms: BodyForm[] = [
    { text: 'the body without its line break at the end', bytes: bytesOf(text.replace(/[\r\n]+$/, '')) },
    { text: 'the body with a line break at its end', bytes: bytesOf(`${text}\n`) },
    { text: 'the body with LF for CR LF', bytes: bytesOf(text.replaceAll('\r\n', '\n')) },
    { text: 'the body with CR LF for LF', bytes: bytesOf(text.replace(/\r?\n/g, '\r\n')) },
    { text: 'the body without its byte order mark', bytes: bytesOf(text.replace(/^\xef\xbb\xbf/, '')) },
    { text: 'the body with a byte order mark before it', bytes: bytesOf(`\xef\xbb\xbf${text}`) },
    ...(raw.length > maxParsed ? [] : jsonForms(raw.toString('utf8').replace(/^\ufeff/, ''))),
    { text: 'an empty body', bytes: Buffer.alloc(0) },
  ];
  return forms.filter(({ bytes }, i) => {
    const isNew = forms.findIndex((form) => form.bytes.equals(bytes)) === i;
    return isNew && !raw.equals(bytes);
  });
}

function jsonForms(json: string): readonly BodyForm[] {
  const value = isTooDeep(json) ? undefined : jsonIn(json);
  if (value === undefined) return [];
  const form = (text: string, body: string): BodyForm => ({ text, bytes: Buffer.from(body) });
  const tight = { comma: ',', colon: ':' };
  const python = { comma: ', ', colon: ': ', number: pythonNumber };
  const php = (string: string): string => withUnicodeEscapes(string).replaceAll('/', '\\/');
  const javascriptNumber = (number: string): string => JSON.stringify(Number(number));
  const otherLanguages: readonly (readonly [name: string, style: JsonStyle])[] = [
    ['Python does, with json.dumps', { ...python, string: withUnicodeEscapes }],
    ['Python does, with json.dumps and ensure_ascii=False', python],
    ['PHP does, with json_encode', { ...tight, string: php, number: shortNumber }],
    ['Go does, with < > & escaped', { ...tight, string: htmlSafe, number: javascriptNumber }],
  ];
  const indented = json.length > maxIndented ? undefined : JSON.stringify(value, null, 2);
  return [
    form('the JSON written again without white space, as JSON.stringify does', JSON.stringify(value)),
    form('the JSON without its white space', rewriteJson(json, tight)),
    ...(indented === undefined
      ? []
      : [form('the JSON written again with two blanks of indentation', indented)]),
    ...otherLanguages.map(([name, style]) =>
      form(`the JSON written again as ${name}`, rewriteJson(json, style)),
    ),
  ];
}

/** No lead is so deep. Far beyond, `JSON.parse` can read a text but `JSON.stringify` would exhaust the stack. */
const maxDepth = 200;

/** The closing quote is optional in the regular expression, so that a string without an end is read only once. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** How a language writes JSON: `string` gets the token as `JSON.stringify` writes it, `number` as it was sent. */
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

const isFractional = (number: string): boolean => /[.eE]/.test(number);

/** Whole numbers keep their digits, and others have as few as they need. */
const shortNumber = (text: string): string => (isFractional(text) ? String(Number(text)) : text);

/** Python keeps a fraction or an exponent visible: it writes 1.0 where others write 1. */
function pythonNumber(text: string): string {
  const short = shortNumber(text);
  return isFractional(text) && /^-?\d+$/.test(short) ? `${short}.0` : short;
}
