import { expect, test } from 'vitest';
import { annotation, markdownTable, withoutCommands } from '../../../src/output/github.ts';

test('an annotation is one line whatever its texts hold', () => {
  const line = annotation('error', 'a: b, c', '50%\nnext\r::stop-commands::x ##[add-mask]y \u001b[31m');
  expect(line).toBe(
    '::error title=a%3A b%2C c::50%25%0Anext\ufffd::stop-commands::x # #[add-mask]y \ufffd[31m',
  );
});

test('a cell of a table is text', () => {
  const table = markdownTable(['a', 'b'], [['x|y\n`z`', '<img src=x> [l](u) @you #1']]);
  expect(table.split('\n')).toEqual([
    '| a | b |',
    '| --- | --- |',
    '| x&#124;y &#96;z&#96; | &#60;img src=x&#62; &#91;l&#93;(u) &#64;you &#35;1 |',
    '',
  ]);
});

test('no line of a text is a command to the runner', () => {
  const text = 'it answered 500: a::b\n    ::add-mask::x\n::error::y ##[add-mask]z';
  expect(withoutCommands(text)).toBe('it answered 500: a::b\n    : :add-mask::x\n: :error::y # #[add-mask]z');
});
