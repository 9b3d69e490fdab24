import { describe, expect, it, test } from 'vitest';
import { bar, sparkline } from '../../../src/output/chart.ts';

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

describe('a sparkline', () => {
  it('tells nothing from little, and marks the most', () => {
    expect(sparkline([0, 1, 50, 100], 10, false)).toBe('▁▂▅█');
    expect(sparkline([0, 1, 50, 100], 10, true)).toBe('_.=#');
  });

  it('is no wider than it may be: values that follow each other are summed', () => {
    expect(sparkline([1, 1, 0, 0, 2, 2, 1], 4, false)).toBe('▅▁█▃');
    expect(sparkline(new Array<number>(1000).fill(3), 40, false)).toHaveLength(40);
  });

  it('of nothing is flat, and of no values is empty', () => {
    expect(sparkline([0, 0], 10, false)).toBe('▁▁');
    expect(sparkline([], 10, false)).toBe('');
  });
});
