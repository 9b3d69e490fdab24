import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseDictionary,
  serializeInnerList,
  serializeStrictly,
} from '../../../src/webhook/rfc9421/structured-fields.ts';

const inner = (text: string): string | undefined => {
  const member = parseDictionary(`a=${text}`)?.get('a');
  return member !== undefined && 'items' in member
    ? serializeInnerList(member.items, member.params)
    : undefined;
};

test.each([
  ['("a" "b");x=1', '("a" "b");x=1'],
  ['(  "a"   b  );  x;y=?0', '("a" b);x;y=?0'],
  [String.raw`("a\"\\");z=tok/en:*`, String.raw`("a\"\\");z=tok/en:*`],
  ['(:aGk=:);n=-12;flag=?1', '(:aGk=:);n=-12;flag'],
  ['()', '()'],
])('%s is written as %s', (text, canonical) => expect(inner(text)).toBe(canonical));

test.each([
  '',
  ' ',
  'a=',
  'a=(',
  'a=("b"',
  'a=("b""c")',
  'a=("b" "c"),',
  ',a=1',
  'a=1,,b=2',
  'a=1 b=2',
  'A=1',
  'a="é"',
  'a="\u0001"',
  'a="unfinished',
  String.raw`a="bad \n escape"`,
  'a=:unfinished',
  'a=007',
  'a=-0',
  'a=1.2345',
  'a=01.5',
  'a=1234567890123456',
  'a=?2',
  'a=1;b=2;b=3',
  'a=1, a=1',
  'a=1;B=2',
  'a\t=1',
  'a="x"y',
])('%j is rejected', (text) => expect(parseDictionary(text)).toBeUndefined());

test('spaces and tabs may surround commas, and a key without a value is true', () => {
  const found = parseDictionary('a=1\t ,\tb, c="x" ');
  expect([...(found ?? [])].map(([key]) => key)).toEqual(['a', 'b', 'c']);
  expect(found?.get('b')).toMatchObject({ bare: { kind: 'boolean', value: true } });
});

test('a number is written in its shortest form', () => {
  for (const [text, strict] of [
    ['1.10', '1.1'],
    ['10.100', '10.1'],
    ['1.101', '1.101'],
    ['1.000', '1.0'],
    ['-0.0', '0.0'],
    ['-0.00', '0.0'],
    ['-0.01', '-0.01'],
    ['-10.0', '-10.0'],
  ] as const) {
    expect(serializeStrictly(text), text).toBe(strict);
  }
});

test('blanks around a field are not part of it, and each value has its type', () => {
  const found = parseDictionary('   a=1, b=1.5, c="x", d=x, e=?0, f=:aGk=:   ');
  const kinds = ['integer', 'decimal', 'string', 'token', 'boolean', 'bytes'];
  expect([...(found?.values() ?? [])].map((one) => 'bare' in one && one.bare.kind)).toEqual(kinds);
});

test('serialised fields are parsed to the same values, and no text causes an exception', () => {
  const words = fc.stringMatching(/^[ -~]{0,12}$/).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
  const params = fc.array(fc.integer({ min: 0, max: 1e15 - 1 }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 5 }), params, (items, numbers) => {
      const text = `(${items.join(' ')})${numbers.map((n, i) => `;p${i}=${n}`).join('')}`;
      expect(inner(text)).toBe(text);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('a=(),;:"\\? 1.-\t*é')) }), (text) => {
      parseDictionary(text);
    }),
    { numRuns: 2000 },
  );
});

test.each(['not base64!', 'aGk', 'aGl=', 'potato'])(
  'bytes that are no base64 are none at all, and what stands beside them is read: %s',
  (text) => {
    const read = parseDictionary(`a=:${text}:, b=:aGk=:`);
    expect(read?.get('a')).toMatchObject({ bare: { kind: 'bytes', value: Buffer.alloc(0) } });
    expect(read?.get('b')).toMatchObject({ bare: { value: Buffer.from('hi') } });
  },
);

test.each([
  ['a=1,b=2;x;y="z"', 'a=1, b=2;x;y="z"'],
  ['  a ,  b=?0,c=?1;q=1.50 ', 'a, b=?0, c;q=1.5'],
  ['Gzip;q=1.000, *;q=0.0', 'Gzip;q=1.0, *;q=0.0'],
  ['("a"   "b");x, ()', '("a" "b");x, ()'],
  ['a=(1   2.50), b=:aGk=:', 'a=(1 2.5), b=:aGk=:'],
  ['"text"', '"text"'],
  ['-12.250', '-12.25'],
])('a structured field is written in one way only: %s', (text, strict) => {
  expect(serializeStrictly(text)).toBe(strict);
});

test.each(['', 'a b', '"unfinished', 'a=', 'é', '1.', '@3'])('%j is no structured field', (text) => {
  expect(serializeStrictly(text)).toBeUndefined();
});
