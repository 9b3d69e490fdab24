import { describing } from '../support/described.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DataError } from '../../src/errors.ts';
import { changeMember } from '../../src/json/members.ts';

const change = (json: string, path: string, value?: string): string | undefined =>
  changeMember(Buffer.from(json), { path: path.split('.'), value })?.toString();

test.each([
  ['{"a":1,"b":2}', 'a', '9', '{"a":9,"b":2}'],
  ['{"a":1.0,"b":{"c":"x","d":1E3}}', 'b.c', '"y"', '{"a":1.0,"b":{"c":"y","d":1E3}}'],
  ['{}', 'a', 'null', '{"a":null}'],
  ['{"a":1}', 'b.c.d', 'true', '{"a":1,"b":{"c":{"d":true}}}'],
  ['{"a":[1,2,{"b":3}]}', 'a.2.b', '4', '{"a":[1,2,{"b":4}]}'],
  ['{"a":1,"a":2}', 'a', '3', '{"a":1,"a":3}'],
  ['{"\\u0061":1}', 'a', '2', '{"\\u0061":2}'],
  ['{"n":12345678901234567890}', 'm', '1', '{"n":12345678901234567890,"m":1}'],
])('in %s, %s is set to %s, and every other byte stays', (json, path, value, expected) => {
  expect(change(json, path, value)).toBe(expected);
});

test.each([
  ['{"a":1,"b":2}', 'a', '{"b":2}'],
  ['{"a":1,"b":2}', 'b', '{"a":1}'],
  ['{"a":1}', 'a', '{}'],
  ['{"a":{"b":1},"c":[1,2,3]}', 'c.1', '{"a":{"b":1},"c":[1,3]}'],
  ['{"a":{"b":1},"c":[1]}', 'c.0', '{"a":{"b":1},"c":[]}'],
])('from %s, %s is removed', (json, path, expected) => {
  expect(change(json, path)).toBe(expected);
});

test('what is not there cannot be removed, and what has no members cannot get one', () => {
  expect(change('{"a":1}', 'b')).toBeUndefined();
  expect(describing(() => change('{"a":1}', 'a.b', '1'))).toThrow(DataError);
  expect(describing(() => change('{"a":[1]}', 'a.5', '1'))).toThrow(/no element 5/);
});

test('the result is what JSON.parse and an assignment give, for any object and any of its members', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.nat(),
      fc.jsonValue(),
      (object, n, value) => {
        const names = Object.keys(object);
        const name = names[n % names.length] ?? '';
        const json = Buffer.from(JSON.stringify(object));
        const set = changeMember(json, { path: [name], value: JSON.stringify(value) });
        expect(JSON.parse(String(set))).toEqual(JSON.parse(JSON.stringify({ ...object, [name]: value })));
        const { [name]: _, ...rest } = object;
        expect(JSON.parse(String(changeMember(json, { path: [name], value: undefined })))).toEqual(
          JSON.parse(JSON.stringify(rest)),
        );
      },
    ),
  );
});
