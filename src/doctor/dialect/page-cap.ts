import type { DialectEvidence } from '../problems.ts';
import type { LimitFinding, Reference } from './find-limit.ts';
import type { Walked } from './limited-requests.ts';

export type CapFinding =
  /** The size to ask for: a larger one brings no more, or is rejected. */
  | { readonly kind: 'cap'; readonly size: number; readonly evidence: DialectEvidence }
  | { readonly kind: 'none'; readonly size: number }
  /** The whole list is on one page: no cap shows. */
  | { readonly kind: 'unreached'; readonly count: number }
  /** The service sets the size. */
  | { readonly kind: 'fixed'; readonly count: number }
  | { readonly kind: 'unknown' };

/** How many leads the service gives at once, at most; `walked` asked for as many as `reference`. */
export function findPageCap(
  { page, asked, rejected }: Reference,
  limit: LimitFinding,
  walked: Walked,
): CapFinding {
  if (limit.kind !== 'honoured') return { kind: 'fixed', count: page.count };
  if (asked === undefined) return { kind: 'unknown' };
  const { name } = limit;
  if (rejected !== undefined) {
    return { kind: 'cap', size: asked, evidence: { kind: 'size-rejected', name, ...rejected, taken: asked } };
  }
  if (page.count >= asked) return { kind: 'none', size: asked };
  if (walked.pages.length > 1) {
    const evidence = { kind: 'brought-part', asked: `${name}=${asked}`, count: page.count } as const;
    return { kind: 'cap', size: page.count, evidence };
  }
  return walked.completion === undefined ? { kind: 'unknown' } : { kind: 'unreached', count: page.count };
}
