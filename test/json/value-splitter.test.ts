import { describing } from '../support/described.ts';
import { expect, test } from 'vitest';
import { DataError } from '../../src/errors.ts';
import { ValueSplitter } from '../../src/json/value-splitter.ts';

function split(text: Buffer | string, size = 1): string[] {
  const bytes = Buffer.from(text as string, 'latin1');
  const splitter = new ValueSplitter();
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    found.push(...splitter.push(bytes.subarray(at, at + size)).map((object) => object.toString('latin1')));
  }
  splitter.end();
  return found;
}

const first = '{"a":"}{\\"]", "n": [1, {}]}';
const second = '{ "b" : "\xff\xfe\\\\" }';

test.each([
  ['one object', `\xef\xbb\xbf ${first}\n`, [first]],
  ['a line each', `${first}\n${second}\r\n\n`, [first, second]],
  ['no line end between them', first + second, [first, second]],
  ['an array', `[\n${first},\n${second}\n]\n`, [first, second]],
  ['an empty array', ' [ ] ', []],
  ['an array a line', `[${first}]\n[${second}]`, [first, second]],
  ['nothing', ' \n', []],
])('%s gives the bytes of each object, in pieces of any size', (_, text, expected) => {
  for (const size of [1, 2, 7, 1000]) expect(split(text, size)).toEqual(expected);
});

test.each([
  ['a text', '"a"', /unexpected '"' at byte 0/],
  ['a number in an array', '[{},5]', /unexpected '5' at byte 4/],
  ['a comma too many', '[{},]', /unexpected '\]' at byte 4/],
  ['a comma too few', '[{}{}]', /unexpected '\{' at byte 3/],
  ['an object that is cut', '{"a":', /too early, at byte 5/],
  ['an array that is cut', '[{}', /too early, at byte 3/],
])('%s is an error that says where', (_, text, expected) => {
  expect(describing(() => split(text))).toThrow(expected);
  expect(describing(() => split(text))).toThrow(DataError);
});
