import { expect, it } from 'vitest';
import { CarriedFields } from '../../src/audit/compare-payloads.ts';

const fieldsOf = (...records: string[]): CarriedFields => {
  const carried = new CarriedFields();
  for (const record of records) carried.add(Buffer.from(record));
  return carried;
};

it('holds each field that some record has, wherever it is, null aside', () => {
  const carried = fieldsOf(
    '{"id":"a","c":{"x":null,"y":1}}',
    '{"id":"b","c":{"x":null,"y":null}}',
    '{"id":"c","l":[{"a":"{\\"b\\":1}"},{"d":{"e":true}}],"n":null}',
  );
  for (const path of ['id', 'c', 'c.y', 'l', 'l.a', 'l.d', 'l.d.e']) expect(carried.has(path)).toBe(true);
  for (const path of ['c.x', 'n', 'l.b', 'b', 'e', 'x']) expect(carried.has(path)).toBe(false);
});

it.each([
  ['another member', '{"id":"a","n":1,"x":1}', 'x'],
  ['a value in place of null', '{"id":"a","n":5}', 'n'],
  ['another place', '{"id":{"n":1}}', 'id.n'],
  ['an object in a list', '{"id":[{"n":1}]}', 'id.n'],
])('looks into a record that differs from one before by %s', (_, record, path) => {
  const before = '{"id":"a","n":null}';
  expect(fieldsOf(before).has(path)).toBe(false);
  expect(fieldsOf(before, record).has(path)).toBe(true);
});

it('claims of no field that nobody has it, where there are too many to remember', () => {
  const carried = new CarriedFields();
  for (let i = 0; i <= 10_001; i += 1) carried.add(Buffer.from(`{"f${i}":1}`));
  expect(carried.has('unknown')).toBe(true);
});
