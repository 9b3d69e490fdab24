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

interface Repetitions {
  readonly times: number;
  readonly limit: number;
}

/**
 * The medians of repetitions, of which all have to be above the limit for a regression: the first one at or below it is
 * the last. A median that is no number is above it.
 */
export async function repeatedMedians(
  { times, limit }: Repetitions,
  repeat: () => Promise<readonly number[]>,
): Promise<{ readonly medians: readonly number[]; readonly isSlower: boolean }> {
  const medians: number[] = [];
  while (medians.length < times) {
    const middle = median(await repeat());
    medians.push(middle);
    if (middle <= limit) return { medians, isSlower: false };
  }
  return { medians, isSlower: true };
}
