import { expect, test } from 'vitest';
import { nearest } from '../../src/output/suggest.ts';
import { commands } from '../../src/program.ts';

const names = commands.map(({ name }) => name);

test.each([
  { typed: 'lgin', meant: 'login' },
  { typed: 'lsit', meant: 'list' },
  { typed: 'exp', meant: 'export' },
  { typed: 'exprot', meant: 'export' },
  { typed: 'sandbx', meant: 'sandbox' },
  { typed: 'LIST', meant: 'list' },
])('$typed is taken for $meant', ({ typed, meant }) => {
  expect(nearest(typed, names)).toBe(meant);
});

test.each(['test', 'foo', 'pull', 'l', '', 'get', 'leads', 'help-me', 'x'.repeat(200)])(
  'nothing is suggested for %j',
  (typed) => {
    expect(nearest(typed, names)).toBeUndefined();
  },
);
