/** What was seen of a walk that came to an end which proves nothing. */
export type UnprovenReason =
  /** A page brought leads that were known, and none that were not. */
  | { readonly kind: 'nothing-new' }
  | { readonly kind: 'rejected-behind'; readonly message: string }
  /** The service says that there is more: and sends no lead, names no position, or none that a usual parameter takes. */
  | { readonly kind: 'more-without-leads' }
  | { readonly kind: 'more-without-position' }
  | { readonly kind: 'more-without-parameter' }
  | { readonly kind: 'empty-page'; readonly page: number; readonly pages: number }
  /** Against the setting `api.pagination none`. */
  | { readonly kind: 'more-than-one-page' }
  | { readonly kind: 'total-beyond-one-page'; readonly total: number; readonly count: number }
  /** No position leads further, and the total is larger, or the page as long as one that may have been cut. */
  | { readonly kind: 'total-out-of-reach'; readonly total: number; readonly met: number }
  | { readonly kind: 'page-may-be-cut'; readonly count: number }
  | { readonly kind: 'total-not-met'; readonly total: number; readonly met: number }
  | { readonly kind: 'total-vanished' }
  /** No lead comes where this parameter is sent, not even the first ones. */
  | { readonly kind: 'position-filters'; readonly param: string }
  | { readonly kind: 'list-kept-moving' };
