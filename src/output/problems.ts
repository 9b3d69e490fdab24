/** Why output cannot be made. */
export type OutputProblem = { readonly kind: 'stdout-not-read' };
