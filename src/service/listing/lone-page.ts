import type { Completion } from './incomplete-error.ts';

/**
 * What a walk has shown of a list that does not page, for `api.provenUpTo` and the bookmark. `proven`: its one page is all
 * of the leads, up to so many. `said`: it was taken for everything without a proof. Undefined where the list pages, or
 * where the walk ended in another way.
 */
export type LonePageEnd =
  { readonly kind: 'proven'; readonly upTo: number } | { readonly kind: 'said' } | undefined;

export function lonePageEnd(end: Completion | undefined): LonePageEnd {
  if (end?.kind !== 'complete') return undefined;
  if (end.provenUpTo !== undefined) return { kind: 'proven', upTo: end.provenUpTo };
  return end.evidence === 'lone-page' ? { kind: 'said' } : undefined;
}
