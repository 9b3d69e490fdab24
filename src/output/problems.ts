/** Why output cannot be made. */
export type OutputProblem =
  | { readonly kind: 'stdout-not-read' }
  | { readonly kind: 'too-many-columns'; readonly most: number }
  | { readonly kind: 'jq-expression'; readonly why: string }
  /** `others`: how many more of the documents failed. */
  | { readonly kind: 'jq-failed'; readonly why: string; readonly others: number; readonly documents: number };
