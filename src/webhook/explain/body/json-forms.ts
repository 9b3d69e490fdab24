import type { BodyFormName } from './body-form-names.ts';
import { phpNumber, pythonNumber, rewriteJson, unicodeEscape, withUnicodeEscapes } from './json-tokens.ts';

/** One way to write the same JSON, as text. */
interface JsonForm {
  readonly name: BodyFormName;
  readonly what: string;
  readonly text: string;
}

/** The JSON of a body as the usual languages and libraries write it; nothing for what is no JSON. */
export function jsonForms(text: string): readonly JsonForm[] {
  const json = parseJson(text);
  if (json === undefined) return [];
  const { value } = json;
  const tight = { comma: ',', colon: ':' };
  const python = { comma: ', ', colon: ': ', number: pythonNumber };
  const compact = JSON.stringify(value);
  const sorted = JSON.stringify(withSortedKeys(value));
  const jsNumber = (number: string): string => JSON.stringify(Number(number));
  const slashed = (string: string): string => string.replaceAll('/', '\\/');
  const php = (string: string): string => slashed(withUnicodeEscapes(string));
  const forms: readonly (readonly [BodyFormName, string, string])[] = [
    ['json-stringify', 'the JSON written again without white space, as JSON.stringify does', compact],
    ['minified', 'the JSON without its white space', rewriteJson(text, tight)],
    ['indent-2', 'the JSON written again with two blanks of indentation', JSON.stringify(value, null, 2)],
    ['indent-4', 'the JSON written again with four blanks of indentation', JSON.stringify(value, null, 4)],
    [
      'python',
      'the JSON written again as Python does, with json.dumps',
      rewriteJson(text, { ...python, string: withUnicodeEscapes }),
    ],
    [
      'python-unicode',
      'the JSON written again as Python does, with json.dumps and ensure_ascii=False',
      rewriteJson(text, python),
    ],
    [
      'ascii',
      'the JSON written again without white space and with \\u escapes',
      rewriteJson(text, { ...tight, string: withUnicodeEscapes }),
    ],
    [
      'php',
      'the JSON written again as PHP does, with json_encode',
      rewriteJson(text, { ...tight, string: php, number: phpNumber }),
    ],
    [
      'php-unicode',
      'the JSON written again as PHP does, with json_encode and JSON_UNESCAPED_UNICODE',
      rewriteJson(text, { ...tight, string: slashed, number: phpNumber }),
    ],
    [
      'go',
      'the JSON written again as Go does, with < > & escaped',
      rewriteJson(text, { ...tight, string: htmlSafe, number: jsNumber }),
    ],
    [
      'rails',
      'the JSON written again as Rails does, with < > & escaped',
      rewriteJson(text, { ...tight, string: htmlSafe, number: pythonNumber }),
    ],
    [
      'dotnet',
      'the JSON written again as .NET does, with System.Text.Json',
      rewriteJson(text, { ...tight, string: dotnetString }),
    ],
    ['sorted', 'the JSON written again with its keys sorted', sorted],
    [
      'python-sorted',
      'the JSON written again as Python does, with json.dumps and sort_keys=True',
      rewriteJson(sorted, { ...python, string: withUnicodeEscapes }),
    ],
    [
      'go-sorted',
      'the JSON written again as Go does from a map: keys sorted, < > & escaped',
      rewriteJson(sorted, { ...tight, string: htmlSafe, number: jsNumber }),
    ],
    ...(typeof value === 'string'
      ? [['unquoted', 'the text that the body holds as a JSON string', value] as const]
      : []),
  ];
  return forms.map(([name, what, written]) => ({ name, what, text: written }));
}

function parseJson(text: string): { value: unknown } | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')) as unknown };
  } catch {
    return undefined;
  }
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
