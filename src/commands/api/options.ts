import { ownHeaders } from '../../config/extra-headers.ts';
import { inputFile, oneOf, text, type ValueType } from '../../config/value-types.ts';
import { jsonIn } from '../../json/exact.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { headerValue } from '../flags/flag-values.ts';
import { UsageError } from '../../errors.ts';

export interface Field {
  readonly name: string;
  readonly text: string;
  /** In a body: the digits of a number stay as they were typed. */
  readonly json: string;
}

/** `NAME=TEXT`, or `NAME:=JSON`. */
const field: ValueType<Field> = {
  parse: (typed) => {
    const [, name, sign, value] = /^(.+?)(:?=)(.*)$/s.exec(typed) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (sign === '=') return { name, text: value, json: JSON.stringify(value) };
    return jsonIn(value) !== undefined ? { name, text: value, json: value } : undefined;
  },
  expected: "a field such as status=new or, with any JSON, 'count:=3'",
};

export const bodyOf = (fields: readonly Field[]): string =>
  `{${fields.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(',')}}`;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const method: ValueType<(typeof methods)[number]> = {
  ...oneOf(methods),
  parse: (typed) => oneOf(methods).parse(typed.toUpperCase()),
};

export const args = {
  path: { type: text, help: 'such as /api/leads, or a URL of the same origin' },
} satisfies Arguments;

export const flags = {
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

/** Throws a `UsageError` for a body with two members of one name, and for a header that every request has. */
export function rejectDuplicates({ method: verb, field: fields, header }: ApiOptions): void {
  const names = fields.map(({ name }) => name);
  const duplicate = names.find((name, i) => names.indexOf(name) < i);
  if (duplicate !== undefined && verb !== 'GET' && verb !== 'HEAD') {
    throw new UsageError(`--field: '${duplicate}' is given twice`, {
      hint: `several values are one list: '${duplicate}:=["a","b"]'`,
    });
  }
  const ownHeader = header.map(([name]) => name.toLowerCase()).find((name) => ownHeaders.includes(name));
  if (ownHeader !== undefined) throw new UsageError(`--header: ${ownHeader} is set by leads itself`);
}
