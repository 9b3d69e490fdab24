import { expect, it } from 'vitest';
import { JsonIndenter } from '../../src/json/indent-json.ts';

const values = [
  { a: 1, b: [], c: {}, d: [1, { e: 'x, {y}: "z" \\\\' }], '\\"': null },
  [],
  [[[]], [{}]],
  'text',
  7,
];

it.each(values)('writes %j as JSON.stringify indents it, whatever the chunks are', (value) => {
  for (const compact of [JSON.stringify(value), JSON.stringify(value, null, 4)]) {
    for (const size of [1, 3, compact.length]) {
      const indenter = new JsonIndenter();
      let text = '';
      for (let i = 0; i < compact.length; i += size) text += indenter.indent(compact.slice(i, i + size));
      expect(text).toBe(JSON.stringify(value, null, 2));
    }
  }
});

it('keeps the digits of numbers, and the lines between documents', () => {
  const text = '{"a":1.50,"b":12345678901234567890}\n{"a":2}\n';
  expect(new JsonIndenter().indent(text)).toBe(
    '{\n  "a": 1.50,\n  "b": 12345678901234567890\n}\n{\n  "a": 2\n}\n',
  );
});
