import { median } from './measure.ts';

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** One measurement of something, in any unit that all measurements of a run share. */
export type Measurement = () => Promise<number>;

/** Of so many rounds, in each the first against the second. */
export async function ratios(rounds: number, a: Measurement, b: Measurement): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = await a();
    found.push(first / (await b()));
  }
  return found;
}

/** The same in the order A B B A: what drifts within a round is in both halves of the ratio. */
export const pairedRatios = (rounds: number, a: Measurement, b: Measurement): Promise<number[]> => {
  const between: number[] = [];
  return ratios(
    rounds,
    async () => {
      const first = await a();
      between.push((await b()) + (await b()));
      return first + (await a());
    },
    () => Promise.resolve(between.pop() ?? Number.NaN),
  );
};

/** So many pairs, and the limit that their median must not exceed. */
export interface Look {
  readonly pairs: number;
  readonly limit: number;
}

/**
 * Looks at new pairs until a median is within its limit, which ends it: a regression exceeds the limit of every look. A median
 * that is no number exceeds it.
 */
export async function lookForRegression(
  looks: readonly Look[],
  measurePairs: (pairs: number) => Promise<readonly number[]>,
): Promise<{ readonly medians: readonly number[]; readonly isSlower: boolean }> {
  const medians: number[] = [];
  for (const { pairs, limit } of looks) {
    const middle = median(await measurePairs(pairs));
    medians.push(middle);
    if (middle <= limit) return { medians, isSlower: false };
  }
  return { medians, isSlower: true };
}
