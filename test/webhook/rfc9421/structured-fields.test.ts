import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDictionary, serializeInnerList } from '../../../src/webhook/rfc9421/structured-fields.ts';

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
  'a=:not base64!:',
  'a=:aGk:',
  'a=:aGl=:',
  'a=007',
  'a=-0',
  'a=1.5',
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
