import { expect, it } from 'vitest';
import { lookForRegression, pairedRatios, ratios, spreadOf } from './ratios.ts';

/** Each measurement takes what its kind costs, more with everything that was measured before it. */
function drifting(costs: Readonly<Record<string, number>>, drift: number) {
  const order: string[] = [];
  const measure = (kind: string) => () => {
    order.push(kind);
    return Promise.resolve((costs[kind] ?? 0) + drift * (order.length - 1));
  };
  return { order, measure };
}

it('pairs are measured in the order A B B A, so that a steady drift counts for both', async () => {
  const { order, measure } = drifting({ A: 10, B: 10 }, 1);
  expect(await pairedRatios(2, measure('A'), measure('B'))).toEqual([1, 1]);
  expect(order.join('')).toBe('ABBAABBA');
});

it('ratios are those of neighbours', async () => {
  const { order, measure } = drifting({ A: 30, B: 10 }, 0);
  const found = await ratios(3, measure('A'), measure('B'));
  expect(spreadOf(found)).toEqual({ median: 3, low: 3, high: 3 });
  expect(order.join('')).toBe('ABABAB');
});

const { NaN: noNumber } = Number;

it.each<[string, number[], number[], boolean]>([
  ['the first look is within its own limit', [1.05], [1.05], false],
  ['the first look is only within the limit of the others', [1.06, 1.1], [1.06, 1.1], false],
  ['one of three is within its limit', [1.2, 1.3, 1.1], [1.2, 1.3, 1.1], false],
  ['none is', [1.2, 1.11, 1.3, 1], [1.2, 1.11, 1.3], true],
  ['nothing can be said', [noNumber, noNumber, noNumber], [noNumber, noNumber, noNumber], true],
])('looks for a regression where %s', async (_, given, medians, isSlower) => {
  const left = [...given];
  const looks = [
    { pairs: 4, limit: 1.05 },
    { pairs: 7, limit: 1.1 },
    { pairs: 11, limit: 1.1 },
  ];
  const asked: number[] = [];
  const measurePairs = (pairs: number) => {
    asked.push(pairs);
    return Promise.resolve([left.shift() ?? 0]);
  };
  expect(await lookForRegression(looks, measurePairs)).toEqual({ medians, isSlower });
  expect(asked).toEqual([4, 7, 11].slice(0, medians.length));
});
