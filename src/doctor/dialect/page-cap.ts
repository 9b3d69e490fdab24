import type { DialectAsker, Query } from './limited-requests.ts';
import type { LimitFinding, Reference } from './find-limit.ts';
import type { PositionFinding } from './find-position.ts';
import { readNext } from './position-names.ts';
import { keysOf, type SeenPage } from './seen-page.ts';

export type CapFinding =
  /** The size to ask for: a larger one brings no more, or is rejected, or hides where the list ends. */
  | { readonly kind: 'cap'; readonly size: number; readonly evidence: string }
  | { readonly kind: 'none'; readonly size: number }
  /** The whole list is on one page: no cap shows. */
  | { readonly kind: 'unreached'; readonly count: number }
  /** The service sets the size. */
  | { readonly kind: 'fixed'; readonly count: number }
  | { readonly kind: 'unknown' };

/** How many leads the service gives at once, at most. */
export async function findPageCap(
  asker: DialectAsker,
  reference: Reference,
  first: SeenPage,
  limit: LimitFinding,
  position: PositionFinding,
): Promise<CapFinding> {
  const { page, asked, rejected } = reference;
  if (limit.kind !== 'honoured') return { kind: 'fixed', count: page.count };
  if (asked === undefined) return { kind: 'unknown' };
  const { name } = limit;
  if (rejected !== undefined) {
    const evidence = `${name}=${rejected.size} was rejected (${rejected.status ?? 'no page'}), ${name}=${asked} was not`;
    return { kind: 'cap', size: asked, evidence };
  }
  if (page.count >= asked) return { kind: 'none', size: asked };
  const hasMore = saysMore(asker, page) ?? (await hasPageBehind(asker, reference, position));
  if (hasMore !== true) {
    const otherwise: CapFinding =
      hasMore === undefined ? { kind: 'unknown' } : { kind: 'unreached', count: page.count };
    return splitSize(asker, reference, first) ?? otherwise;
  }
  return {
    kind: 'cap',
    size: page.count,
    evidence: `${name}=${asked} brought ${page.count} leads, and there are more`,
  };
}

/**
 * A smaller size where a page that holds the whole list names no end, and a smaller one names the page behind it: a walk
 * over several pages comes to an end that is proven.
 */
function splitSize(asker: DialectAsker, { page }: Reference, first: SeenPage): CapFinding | undefined {
  if (readNext(asker.params, page)?.next.kind !== 'silent') return undefined;
  if (first.count >= page.count || readNext(asker.params, first)?.next.kind !== 'next') return undefined;
  const evidence = `a page of all ${page.count} leads does not say that it is the last, and one of ${first.count} names the next`;
  return { kind: 'cap', size: first.count, evidence };
}

/** Whether the answer says that more leads follow; undefined where it says nothing of it. */
function saysMore({ params }: DialectAsker, page: SeenPage): boolean | undefined {
  const read = readNext(params, page);
  if (read === undefined) return undefined;
  const { hints, next } = read;
  if (hints.hasMore !== undefined) return hints.hasMore;
  if (hints.total !== undefined) return hints.total > page.count;
  if (next.kind === 'end') return false;
  if (next.kind === 'next' && (next.position.style === 'url' || next.position.style === 'cursor'))
    return true;
  return hints.next ? true : undefined;
}

async function hasPageBehind(
  asker: DialectAsker,
  { page, query }: Reference,
  position: PositionFinding,
): Promise<boolean | undefined> {
  if (position.kind !== 'found') return undefined;
  const { pagination, params = {} } = position.dialect;
  const lastKey = keysOf(page).at(-1) ?? '';
  const behind: Query | undefined =
    pagination === 'offset' && params.offset
      ? { [params.offset]: String(page.count) }
      : params.page
        ? { [params.page]: '2' }
        : params.cursor
          ? { [params.cursor]: lastKey }
          : undefined;
  if (behind === undefined) return undefined;
  const seen = await asker.ask({ ...query, ...behind });
  if (seen.kind === 'unasked') return undefined;
  const known = new Set(keysOf(page));
  return seen.kind === 'page' && seen.leads.some(({ key }) => !known.has(key));
}
