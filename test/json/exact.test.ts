import { describe, expect, it } from 'vitest';
import { parseExact } from '../../src/json/exact.ts';

describe('exact JSON', () => {
  it('turns integers that a double cannot represent into strings of their digits, and nothing else', () => {
    const json = '[12345678901234567890,-9007199254740993,9007199254740991,12345678901234567.5,1e20]';
    expect(parseExact(json)).toEqual([
      '12345678901234567890',
      '-9007199254740993',
      9007199254740991,
      12345678901234568,
      1e20,
    ]);
  });

  it.each(['"12345678901234567890"', '"\\"12345678901234567890"', '"\\\\",12345678901234567890'])(
    'tells numbers from texts: %s',
    (part) => {
      const [first, second] = parseExact(`[${part}]`) as string[];
      expect([first?.replace(/\D/g, ''), second].join('')).toBe('12345678901234567890');
    },
  );

  it.each(['x', '\\n', '\\"', '\\\\'])('is found after a string of sixteen megabytes of %s', (piece) => {
    const note = piece.repeat(16_000_000 / piece.length);
    const value = parseExact(`{"note":"${note}","n":12345678901234567890}`);
    expect(value).toHaveProperty('n', '12345678901234567890');
  });

  it('is rejected in a text that does not end', () => {
    expect(() => parseExact('["12345678901234567890')).toThrow(SyntaxError);
  });
});
