import { type KindsOf, UsageError } from '../errors.ts';

/** What is wrong with what is expected; `measures`: those that there are. */
export type StatsProblem = { readonly measures: readonly string[] } & KindsOf<{
  'no-expectation': { text: string };
  'no-measure': { name: string };
  'no-bound': { measure: string; wants: 'duration' | 'share' | 'number'; value: string };
}>;

export const usageError = (problem: StatsProblem): UsageError => new UsageError(problem);
