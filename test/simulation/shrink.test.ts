import { describe, expect, it } from 'vitest';
import { shrink } from './shrink.ts';
import type { Happening, Plan } from './world/plan.ts';

const happening = (at: number): Happening => ({ at, kind: 'slow-disk', forMs: 1 });

const plan = (times: readonly number[]): Plan => ({
  seed: 1,
  lengthMs: 1000,
  receivers: 1,
  leads: 100,
  copies: 1,
  targets: ['file'],
  style: 'page',
  pageCap: 7,
  happenings: times.map(happening),
});

/** Fails where all of these happen, in so long a time and with so many leads. */
const failingWith =
  (times: readonly number[], lengthMs: number, leads: number) => (candidates: readonly Plan[]) =>
    Promise.resolve(
      candidates.find(
        (one) =>
          one.lengthMs >= lengthMs &&
          one.leads >= leads &&
          times.every((time) => one.happenings.some(({ at }) => at === time)),
      ),
    );

describe('the smallest plan that fails in the same way', () => {
  it('has the happenings that are needed together and no other', async () => {
    const all = plan(Array.from({ length: 30 }, (_, i) => 10 * i));
    const { happenings, lengthMs, leads } = await shrink(all, failingWith([50, 190], 200, 5));
    expect(happenings.map(({ at }) => at)).toEqual([50, 190]);
    expect(lengthMs).toBe(250);
    expect(leads).toBe(10);
  });

  it('is the plan without any happening where none is needed', async () => {
    const { happenings } = await shrink(plan([1, 2, 3]), failingWith([], 0, 0));
    expect(happenings).toEqual([]);
  });
});
