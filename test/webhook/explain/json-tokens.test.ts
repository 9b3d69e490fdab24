import { expect, test } from 'vitest';
import { rewriteJson } from '../../../src/webhook/explain/body-forms.ts';

test('only white space outside of strings and what the style says changes', () => {
  const json = '{ "a:b, c" : [ 1.0 , -2e3, true,null ], "\\"" : "\\u00eb" }';
  const style = { comma: ', ', colon: ': ' };
  expect(rewriteJson(json, style)).toBe('{"a:b, c": [1.0, -2e3, true, null], "\\"": "ë"}');
});
