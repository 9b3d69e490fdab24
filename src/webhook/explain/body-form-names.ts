/**
 * Other forms of a body, by the names that `--body-form` takes, and how they differ from the body that came, which completes
 * "the signature was made over …". Data only: help reads it without any code.
 */
export const bodyFormTexts = {
  'no-line-break': 'the body without its line break at the end',
  'line-break': 'the body with a line break at its end',
  'crlf-line-break': 'the body with CR LF at its end',
  lf: 'the body with LF for CR LF',
  crlf: 'the body with CR LF for LF',
  'no-bom': 'the body without its byte order mark',
  bom: 'the body with a byte order mark before it',
  'json-stringify': 'the JSON written again without white space, as JSON.stringify does',
  minified: 'the JSON without its white space',
  'indent-2': 'the JSON written again with two blanks of indentation',
  'indent-4': 'the JSON written again with four blanks of indentation',
  python: 'the JSON written again as Python does, with json.dumps',
  'python-unicode': 'the JSON written again as Python does, with json.dumps and ensure_ascii=False',
  ascii: 'the JSON written again without white space and with \\u escapes',
  php: 'the JSON written again as PHP does, with json_encode',
  'php-unicode': 'the JSON written again as PHP does, with json_encode and JSON_UNESCAPED_UNICODE',
  go: 'the JSON written again as Go does, with < > & escaped',
  rails: 'the JSON written again as Rails does, with < > & escaped',
  dotnet: 'the JSON written again as .NET does, with System.Text.Json',
  sorted: 'the JSON written again with its keys sorted',
  'python-sorted': 'the JSON written again as Python does, with json.dumps and sort_keys=True',
  'go-sorted': 'the JSON written again as Go does from a map: keys sorted, < > & escaped',
  unquoted: 'the text that the body holds as a JSON string',
  decompressed: 'the body before it was compressed',
  'utf8-replaced': 'the body with its invalid UTF-8 replaced',
  'utf8-twice': 'the body in Latin-1, written as UTF-8 once more',
  latin1: 'the body in Latin-1 instead of UTF-8',
  empty: 'an empty body',
} as const;

export type BodyFormName = keyof typeof bodyFormTexts;

export const bodyFormNames = Object.keys(bodyFormTexts) as BodyFormName[];
