import { expect, it } from 'vitest';
import { faultOfWalk } from '../../../src/doctor/dialect/position-names.ts';

const front = Array.from({ length: 12 }, (_, i) => `lead_${i}`);
const walked = (first: readonly string[], second: readonly string[]) =>
  faultOfWalk(front, { kind: 'pages', first, second, next: undefined });

it('takes two pages that follow each other, also while a few leads arrive', () => {
  expect(walked(front.slice(0, 5), front.slice(5, 10))).toBeUndefined();
  expect(walked(['new', ...front.slice(0, 4)], front.slice(4, 9))).toBeUndefined();
  expect(walked(front.slice(0, 5), ['lead_4', 'lead_5', 'lead_6'])).toBeUndefined();
});

it('takes no second page that is the first one again, lies further behind, or is empty', () => {
  const second = 'its second page is not the one behind the first';
  expect(walked(front.slice(0, 5), front.slice(0, 5))).toBe(second);
  expect(walked(front.slice(0, 5), front.slice(10))).toBe(second);
  expect(walked(front.slice(0, 5), [])).toBe(second);
});

it('takes no walk that begins behind the front', () => {
  expect(walked(front.slice(5, 10), front.slice(10))).toBe('its first page is not the front of the list');
});
