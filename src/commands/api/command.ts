import { inputFile, oneOf, text, type ValueType } from '../../config/value-types.ts';
import { jsonIn } from '../../json/exact.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { headerValue } from '../flags/flag-values.ts';
import { command } from '../flags/command-spec.ts';

export interface Field {
  readonly name: string;
  readonly text: string;
  /** The value in a JSON body, in the digits that were typed. */
  readonly json: string;
}

/** `NAME=TEXT`, or `NAME:=JSON`. */
const field: ValueType<Field> = {
  parse: (typed) => {
    const [, name, operator, value] = /^(.+?)(:?=)(.*)$/s.exec(typed) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (operator === '=') return { name, text: value, json: JSON.stringify(value) };
    return jsonIn(value) !== undefined ? { name, text: value, json: value } : undefined;
  },
  expected: "a field such as status=new or, with any JSON, 'count:=3'",
};

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const method: ValueType<(typeof methods)[number]> = {
  ...oneOf(methods),
  parse: (typed) => oneOf(methods).parse(typed.toUpperCase()),
};

const args = {
  path: { type: text, help: 'such as /api/leads, or a URL of the same origin' },
} satisfies Arguments;

const flags = {
  method: { short: 'X', value: 'method', type: method, default: 'GET' },
  field: {
    short: 'f',
    value: 'field',
    type: field,
    repeatable: true,
    help: 'NAME=TEXT, or NAME:=JSON; in the query of GET and HEAD, else in a JSON body',
  },
  input: {
    value: 'file',
    type: inputFile,
    without: ['--field', '--method GET', '--method HEAD'],
    help: 'send this file as the body (- for stdin)',
  },
  header: { short: 'H', value: 'header', type: headerValue, repeatable: true, help: "'Name: value'" },
  include: { short: 'i', help: 'print the status line and the headers as well' },
  paginate: { with: ['--method GET'], help: 'print every page of a list, each as it came' },
} satisfies Flags;

export type ApiOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;

export default command({
  name: 'api',
  summary: 'any request to the service, with the key',
  description:
    "Send one request to the service with the profile's key and print the answer's body as it came; on a terminal it is indented, and the key is hidden.\nGET and HEAD are tried again, other methods are not. No redirect is followed.",
  arguments: args,
  flags,
  everyday: ['method', 'field', 'input', 'header', 'include', 'paginate'],
  examples: [
    "leads api '/api/leads?limit=5'",
    "leads api /api/leads --paginate | jq '.data[].id'",
    "leads api '/api/leads?limit=1' --include",
  ],
  load: () => import('./run.ts'),
});
