import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatencyHistogram } from '../../src/sender/delivery-run.ts';

/** The exact percentile of a list, by the same definition. */
function exact(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

test('percentiles are within 1% of the exact ones, whatever the values', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.001, max: 1e7, noNaN: true }), { minLength: 1 }), (values) => {
      const histogram = new LatencyHistogram();
      for (const value of values) histogram.add(value);
      const found = histogram.percentiles();
      for (const [name, share] of [
        ['p50', 0.5],
        ['p90', 0.9],
        ['p99', 0.99],
      ] as const) {
        const wanted = exact(values, share);
        expect(Math.abs((found?.[name] ?? 0) - wanted)).toBeLessThanOrEqual(wanted * 0.016 + 0.001);
      }
      expect(found?.max).toBeCloseTo(Math.max(...values), 3);
    }),
  );
});

test('nothing counted has no percentiles, and a clock that went back counts as zero', () => {
  const histogram = new LatencyHistogram();
  expect(histogram.percentiles()).toBeUndefined();
  histogram.add(-5);
  expect(histogram.percentiles()).toEqual({ p50: 0, p90: 0, p99: 0, max: 0 });
});

test('a value beyond the scale keeps its maximum', () => {
  const histogram = new LatencyHistogram();
  histogram.add(1e12);
  expect(histogram.percentiles()?.max).toBe(1e12);
});
