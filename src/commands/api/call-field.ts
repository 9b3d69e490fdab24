import type { ValueType } from '../../config/value-types.ts';

/** A parameter of a call. */
export interface Field {
  readonly name: string;
  /** In a query. */
  readonly text: string;
  /** In a body: the digits of a number stay as they were typed. */
  readonly json: string;
}

/** `NAME=TEXT`, or `NAME:=JSON`. */
export const field: ValueType<Field> = {
  parse: (typed) => {
    const [, name, sign, value] = /^(.+?)(:?=)(.*)$/s.exec(typed) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (sign === '=') return { name, text: value, json: JSON.stringify(value) };
    return isJson(value) ? { name, text: value, json: value } : undefined;
  },
  expected: "a field such as status=new or, with any JSON, 'count:=3'",
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One JSON object. */
export const bodyOf = (fields: readonly Field[]): string =>
  `{${fields.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
