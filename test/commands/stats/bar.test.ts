import { describe, expect, test } from 'vitest';
import { bar } from '../../../src/commands/stats/print-stats.ts';

describe('a bar', () => {
  test.each([
    { value: 4, most: 4, width: 3, drawn: '███', plain: '###' },
    { value: 2, most: 4, width: 3, drawn: '█▌', plain: '##' },
    { value: 1, most: 1_000_000, width: 10, drawn: '▏', plain: '#' },
    { value: 0, most: 4, width: 3, drawn: '', plain: '' },
    { value: 0, most: 0, width: 3, drawn: '', plain: '' },
    { value: 3, most: 4, width: 0, drawn: '', plain: '' },
  ])('of $value of $most in $width columns', ({ value, most, width, drawn, plain }) => {
    expect(bar(value, most, width, false)).toBe(drawn);
    expect(bar(value, most, width, true)).toBe(plain);
  });
});
