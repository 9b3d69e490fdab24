import { expect, it } from 'vitest';
import { terminalWidth, wrapWidth } from '../../../src/output/terminal/terminal.ts';
import { memory } from '../../support/run.ts';

it.each([
  { stream: 'a pipe', columns: undefined, width: undefined, wrap: 80 },
  { stream: 'a terminal', columns: 40, width: 40, wrap: 40 },
  { stream: 'a terminal that does not know its size', columns: 0, width: 80, wrap: 80 },
])('$stream', ({ columns, width, wrap }) => {
  const stream = memory(columns);
  expect(terminalWidth(stream)).toBe(width);
  expect(wrapWidth(stream)).toBe(wrap);
});
