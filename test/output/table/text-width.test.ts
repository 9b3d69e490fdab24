import { describe, expect, it } from 'vitest';
import { textWidth, truncate } from '../../../src/output/text-width.ts';

describe('textWidth', () => {
  it.each([
    ['Zoë', 3],
    ['e\u0301', 1],
    ['Дмитрий', 7],
    ['王小明', 6],
    ['김철수', 6],
    ['👩‍👩‍👧', 2],
    ['🇫🇷', 2],
    ['🚀', 2],
    // Vowel signs that stand beside their letter take a column; those above and below it take none.
    ['प्रिया', 5],
  ])('of %s is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });
});

describe('truncate', () => {
  it.each([
    '\ufffd[31mred\ufffd evil',
    '王小明'.repeat(4),
    '👩‍💻👍🏽 and more of it',
    'e\u0301'.repeat(9),
    'plain text',
  ])('of %s never takes more than it may', (text) => {
    for (let width = 1; width < 12; width += 1) {
      expect(textWidth(truncate(text, width))).toBeLessThanOrEqual(width);
    }
    expect(truncate(text, 7)).toMatch(/^.{2,}…$/u);
  });
});
