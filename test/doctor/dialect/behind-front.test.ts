import { expect, it } from 'vitest';
import { faultOf } from '../../../src/doctor/dialect/find-position.ts';
import { problemSentence } from '../../../src/messages/find-message.ts';

const front = Array.from({ length: 12 }, (_, i) => `lead_${i}`);
const walked = (...pages: readonly (readonly string[])[]) => {
  const fault = faultOf(front, {
    pages: pages.map((page) => page.map((key) => ({ key, hasId: true, createdAt: undefined, record: null }))),
    completion: undefined,
    refusal: undefined,
    next: undefined,
    pagesBefore: 0,
  });
  return fault && problemSentence(fault);
};

it('takes two pages that follow each other, also while a few leads arrive', () => {
  expect(walked(front.slice(0, 5), front.slice(5, 10))).toBeUndefined();
  expect(walked(['new', ...front.slice(0, 4)], front.slice(4, 9))).toBeUndefined();
  expect(walked(front, ['behind', 'them'])).toBeUndefined();
});

it('takes no second page that lies further behind, or elsewhere', () => {
  const second = 'its second page is not the one behind the first';
  expect(walked(front.slice(0, 5), front.slice(10))).toBe(second);
  expect(walked(front.slice(0, 5), front.slice(6))).toBe(second);
  expect(walked(front.slice(0, 5), ['elsewhere'])).toBe(second);
});

it('takes no walk that begins behind the front, be it by one lead', () => {
  expect(walked(front.slice(5, 10), front.slice(10))).toBe('its first page is not the front of the list');
  expect(walked(front.slice(1, 6), front.slice(6))).toBe('its first page is not the front of the list');
});
