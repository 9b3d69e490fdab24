import { expect, it } from 'vitest';
import { describe as described, UsageError } from '../../src/errors.ts';
import { parseCondition } from '../../src/lead/filter-condition.ts';

it('says what a condition of order needs', () => {
  let thrown: unknown;
  try {
    parseCondition('score>high');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UsageError);
  expect(described(thrown)).toEqual({
    message: "the condition 'score>high' needs a number or a time after '>'",
    hint: 'such as 10, 2026-01-31, yesterday or 7d',
  });
});
