import { UsageError } from '../errors.ts';

/** What is wrong with what is expected; `measures`: those that there are. */
export type StatsProblem = { readonly measures: readonly string[] } & (
  | { readonly kind: 'no-expectation'; readonly text: string }
  | { readonly kind: 'no-measure'; readonly name: string }
  | {
      readonly kind: 'no-bound';
      readonly measure: string;
      readonly wants: 'duration' | 'share' | 'number';
      readonly value: string;
    }
);

export const usageError = (problem: StatsProblem): UsageError => new UsageError(problem);
