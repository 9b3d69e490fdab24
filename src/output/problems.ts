/** Why output cannot be made. */
export type OutputProblem =
  { readonly kind: 'stdout-not-read' } | { readonly kind: 'too-many-columns'; readonly most: number };
