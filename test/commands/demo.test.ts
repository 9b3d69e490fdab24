import { expect, it } from 'vitest';
import { createTourPrinter } from '../../src/commands/demo/run.ts';
import type { Context } from '../../src/context.ts';
import { memory } from '../support/run.ts';

it.each([
  [40, ['1. A service: six leads, and deliveries', 'that wait.', 'an output line that is longer than the …']],
  [0, ['1. A service: six leads, and deliveries that wait.', expect.stringMatching(/^an output line/)]],
  [undefined, ['1. A service: six leads, and deliveries that wait.', expect.stringMatching(/^an output/)]],
])('the tour breaks its own text between words at %s columns', async (columns, expected) => {
  const stdout = memory(columns);
  const context = { stdout, env: {}, globals: { color: false } } as unknown as Context;
  const printer = await createTourPrinter(context);
  await printer.step('A service: six leads, and deliveries that wait.');
  await printer.output(['an output line that is longer than the terminal']);
  expect(stdout.text().trim().split('\n')).toEqual(expected);
});
