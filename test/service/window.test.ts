import { expect, it } from 'vitest';
import { pageWindowAfter } from '../../src/service/pagers/overlap.ts';

it('begins page 2 of 999 at record 999, and page 3 of 998 at 1,996', () => {
  expect(pageWindowAfter(1000, 1000)).toEqual({ page: 1, limit: 999, begin: 999 });
  expect(pageWindowAfter(1998, 1000)).toEqual({ page: 2, limit: 998, begin: 1996 });
});

it('overlaps what was read, reaches further, and is never larger than the largest page', () => {
  for (const largest of [30, 50, 100, 1000]) {
    let covered = largest;
    for (let request = 0; request < 200; request += 1) {
      const { page, limit, begin } = pageWindowAfter(covered, largest);
      expect([begin, begin < covered, limit <= largest, begin + limit > covered]).toEqual([
        page * limit,
        true,
        true,
        true,
      ]);
      covered = begin + limit;
    }
  }
});

it.each([
  [1000, 1.05],
  [200, 1.11],
  [100, 1.15],
  [50, 1.24],
])('reads 50 pages of %i records in at most %f times as many', (largest, most) => {
  let [covered, requests] = [largest, 1];
  for (; covered < 50 * largest; requests += 1) {
    const { begin, limit } = pageWindowAfter(covered, largest);
    covered = begin + limit;
  }
  expect(requests / 50).toBeLessThanOrEqual(most + 0.02);
});
