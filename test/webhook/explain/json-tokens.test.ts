import { expect, test } from 'vitest';
import { phpNumber, pythonNumber, rewriteJson } from '../../../src/webhook/explain/body-forms.ts';

test.each([
  ['1.0', '1.0'],
  ['1e16', '1e+16'],
  ['1e15', '1000000000000000.0'],
  ['1e-5', '1e-05'],
  ['0.0001', '0.0001'],
  ['-0.0', '-0.0'],
  ['1.50', '1.5'],
  ['123456.789e3', '123456789.0'],
  ['12345678901234567890', '12345678901234567890'],
])('CPython writes %s as %s', (text, written) => {
  expect(pythonNumber(text)).toBe(written);
});

test.each([
  ['1.0', '1'],
  ['9223372036854775807', '9223372036854775807'],
  ['12345678901234567890', '1.2345678901234567e+19'],
  ['1e25', '1.0e+25'],
  ['1e-5', '1.0e-5'],
  ['0.10', '0.1'],
])('PHP writes %s as %s', (text, written) => {
  expect(phpNumber(text)).toBe(written);
});

test('only white space outside of strings and what the style says changes', () => {
  const json = '{ "a:b, c" : [ 1.0 , -2e3, true,null ], "\\"" : "\\u00eb" }';
  const style = { comma: ', ', colon: ': ' };
  expect(rewriteJson(json, style)).toBe('{"a:b, c": [1.0, -2e3, true, null], "\\"": "ë"}');
});
