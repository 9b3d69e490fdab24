import { expect, test } from 'vitest';
import { prefersHtml } from '../../../src/http/server/reject-request.ts';

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
  ['text/html', true],
  ['application/json;q=0.5, Text/HTML; q=0.9', true],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['text/html;q=0.5, */*', false],
  ['text/html;q=0', false],
  ['text/html;q=x', false],
  ['', false],
  [undefined, false],
])('Accept: %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});
