import { expect, it } from 'vitest';
import { isTwoPagesOf } from '../../src/doctor/learn/find-paging.ts';

const front = Array.from({ length: 12 }, (_, i) => `lead_${i}`);
const follows = (...pages: readonly (readonly string[])[]): boolean =>
  isTwoPagesOf(front, {
    pages: pages.map((page) => page.map((key) => ({ key, hasId: true, createdAt: undefined, record: null }))),
  });

it('takes two pages that follow each other, also while a few leads arrive', () => {
  expect(follows(front.slice(0, 5), front.slice(5, 10))).toBe(true);
  expect(follows(['new', ...front.slice(0, 4)], front.slice(4, 9))).toBe(true);
  expect(follows(front, ['behind', 'them'])).toBe(true);
});

it('takes no second page that lies further behind, or elsewhere, and no page alone', () => {
  expect(follows(front.slice(0, 5), front.slice(10))).toBe(false);
  expect(follows(front.slice(0, 5), front.slice(6))).toBe(false);
  expect(follows(front.slice(0, 5), ['elsewhere'])).toBe(false);
  expect(follows(front)).toBe(false);
});

it('takes no walk that begins behind the front, be it by one lead', () => {
  expect(follows(front.slice(5, 10), front.slice(10))).toBe(false);
  expect(follows(front.slice(1, 6), front.slice(6))).toBe(false);
});
