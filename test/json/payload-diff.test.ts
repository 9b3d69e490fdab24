import { expect, it } from 'vitest';
import { payloadDiff } from '../../src/json/payload-diff.ts';

const between = (before: string, after: string): string[] =>
  payloadDiff(Buffer.from(before), Buffer.from(after));

it('names the fields, whatever the order, white space and escapes', () => {
  const before = '{"id":"a","contact":{"name":"A","email":"x"},"n":12345678901234567890}';
  expect(
    between(before, '{ "n":12345678901234567890,"contact":{"email":"\\u0078","name":"A"},"id":"a"}'),
  ).toEqual([]);
  expect(between(before, '{"id":"a","contact":{"name":"B"},"n":12345678901234567891}').sort()).toEqual([
    'contact.email',
    'contact.name',
    'n',
  ]);
});

it.each([
  ['0.12345678901234567', '0.12345678901234568'],
  ['1234567890.12345678', '1234567890.12345679'],
  ['1e400', '1e500'],
  ['12345678901234567890', '"12345678901234567890"'],
  ['1', '"1"'],
  ['1e99999999999999999999', '1e99999999999999999998'],
  ['5', '-5'],
])('tells the number %s from %s', (a, b) => {
  expect(between(`{"id":"a","n":[${a}]}`, `{"id":"a","n":[${b}]}`)).toEqual(['n.0']);
});

it.each([
  ['1', '1.0'],
  ['100', '1e2'],
  ['-0.0012', '-12E-4'],
  ['0', '-0.0e7'],
  ['12345678901234567890', '1234567890123456789e+1'],
])('takes %s and %s for one number', (a, b) => {
  expect(between(`{"id":"a","n":${a}}`, `{"id":"a","n":${b}}`)).toEqual([]);
});

it('cuts the name of a field that nests deep, and says it once', () => {
  const nested = (inner: string): string =>
    `{"id":"a","d":${'{"ab":'.repeat(50_000)}${inner}${'}'.repeat(50_000)}}`;
  const names = between(nested('[1,2]'), nested('[3,4]'));
  expect(names).toHaveLength(1);
  expect(names[0]).toMatch(/^d\.ab\.ab\..*…$/);
  expect(names[0]?.length).toBeLessThan(300);
});

it('finds a number beside a string of many megabytes', () => {
  const lead = (number: number): string => `{"note":"${'x'.repeat(9_000_000)}","n":${number}}`;
  expect(between(lead(1), lead(2))).toEqual(['n']);
});
