import { expect, it } from 'vitest';
import { shellLines } from '../../../src/commands/help/root-help.ts';
import { wrap } from '../../../src/output/terminal/terminal.ts';

it('breaks a command line so that it still runs as printed', () => {
  const command = "leads list --since 7d --where 'score > 10' --limit all";
  expect(shellLines(command, 80)).toEqual([`  $ ${command}`]);
  expect(shellLines(command, 40)).toEqual([
    '  $ leads list --since 7d \\',
    "      --where 'score > 10' --limit all",
  ]);
});

it('keeps the indentation of a paragraph on every line of it', () => {
  expect(wrap('one\n  two three', 8)).toEqual(['one', '  two', '  three']);
});
