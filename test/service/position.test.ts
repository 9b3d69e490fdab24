import { expect, it } from 'vitest';
import { nextHintOf } from '../../src/service/pagers/hints.ts';
import { isCounting } from '../../src/service/pagers/position.ts';

const positionOf = (query: string) => ({ style: 'url', url: `https://api.example/leads?${query}` }) as const;

it.each(['page=2', 'offset=20', 'created_after=2026-01-01&page=2', 'start_time=1&end_time=2&offset=20'])(
  'a next URL counts pages or records, filters by time beside: %s',
  (query) => {
    expect(isCounting(positionOf(query))).toBe(true);
  },
);

it.each(['cursor=abc&page=2', 'after=l20&page=2', 'page_token=x&offset=20', 'limit=20'])(
  'a next URL with an opaque mark does not count: %s',
  (query) => {
    expect(isCounting(positionOf(query))).toBe(false);
  },
);

it.each([
  [{ link: null, after: '2' }, 'nextcursor', '2'],
  [{ href: null, page: 3 }, 'nextpage', 3],
])('an object of a next page leads on by the member that has a value: %j', (next, plain, value) => {
  expect(nextHintOf('next', next)).toMatchObject({ plain, value });
});

it('an object of a next page whose members are all null is an end', () => {
  expect(nextHintOf('next', { href: null })).toBe(null);
});
