import { expect, test } from 'vitest';
import { headerValues, pathOf } from '../../src/webhook/delivery.ts';

test.each([
  ['/hook?a=1', '/hook'],
  ['/hook?', '/hook'],
  ['/', '/'],
  ['/a/b?c=/d?e', '/a/b'],
  ['http://host/hook?a=1', '/hook'],
  ['HTTPS://host:8443/hook/', '/hook/'],
  ['http://host', '/'],
  ['http://host?a=1', '/'],
  ['/http://host/hook', '/http://host/hook'],
  ['xhttp://host/hook', 'xhttp://host/hook'],
])('the path of the target %s is %s', (path, expected) => expect(pathOf({ path })).toBe(expected));

test('every value of a header is found, in order and whatever the case of its name', () => {
  const rawHeaders = [
    ['X-Sig', 'a'],
    ['y-sig', 'b'],
    ['x-SIG', 'c'],
    ['x-sig2', 'd'],
  ] as const;
  expect(headerValues({ rawHeaders }, 'X-sig')).toEqual(['a', 'c']);
  expect(headerValues({ rawHeaders }, 'none')).toEqual([]);
});
