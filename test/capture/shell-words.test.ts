import { expect, test } from 'vitest';
import { parsePipelines } from '../../src/capture/shell-words.ts';

const read = (text: string) =>
  parsePipelines(text)
    .map((commands) => commands.map((words) => words.map((word) => word.text)))
    .filter((commands) => commands.flat().length > 0);

test.each([
  ['a comment at the start of a line', '# one\ncurl a#b\n#two', [[['curl', 'a#b']]]],
  [
    'a pipe before a line end',
    'echo a |\n  base64 -d',
    [
      [
        ['echo', 'a'],
        ['base64', '-d'],
      ],
    ],
  ],
  ['a pipe of both outputs', 'echo a |& cat || b', [[['echo', 'a'], ['cat']], [['b']]]],
  ['a continued line in a word', 'curl ab\\\ncd \\\n e', [[['curl', 'abcd', 'e']]]],
  [
    'a quoted file of an input',
    `curl -d @- < "my file" -H 'A: b' x`,
    [[['curl', '-d', '@-', '-H', 'A: b', 'x']]],
  ],
  ['the file of an input', 'curl -d @- < body.json x', [[['curl', '-d', '@-', 'x']]]],
])('%s', (_, text, pipelines) => {
  expect(read(text)).toEqual(pipelines);
});
