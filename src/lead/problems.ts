/** A condition compares with what is neither a number nor a time. */
export type LeadProblem = {
  readonly kind: 'condition-without-order';
  readonly text: string;
  readonly operator: string;
};
