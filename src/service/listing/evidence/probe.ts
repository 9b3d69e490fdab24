import { positionById } from '../../pagination/next-position.ts';
import type { Position } from '../../pagination/position.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { Peek, Peeked } from '../fetch/peek.ts';

/** A page that names no next one. */
export interface SilentPage {
  readonly count: number;
  readonly firstId: string | undefined;
  readonly lastId: string | undefined;
  readonly firstMark: string;
  /** Whether a lead with this id was on the page. */
  readonly isKnown: (id: string) => boolean;
  /** The page size that was sent. */
  readonly size: number | undefined;
}

export type ProbeResult =
  /** The service honours a position: the walk goes on there. */
  | { readonly kind: 'next'; readonly position: Position }
  /** The service honours a position, and nothing is behind the last record. */
  | { readonly kind: 'nothing-behind' }
  /** The service honours no position. */
  | { readonly kind: 'no-position'; readonly honoursLimit: boolean };

type Found = 'different' | 'empty' | 'same' | 'no-such-page' | 'rejected';

/** What a page is that was asked for by a parameter which the service may ignore. */
function compare(page: SilentPage, peeked: Peeked): Found {
  if (peeked.kind === 'rejected') return peeked.status === 404 ? 'no-such-page' : 'rejected';
  if (peeked.count === 0) return 'empty';
  if (page.firstId === undefined) return peeked.firstMark === page.firstMark ? 'same' : 'different';
  // Where leads arrive or vanish meanwhile, the first page comes again almost as it was.
  if (peeked.ids.includes(page.firstId)) return 'same';
  // One record that is another one than the first: the list has grown by as much.
  if (peeked.ids.length === 1) return 'different';
  const known = peeked.ids.filter((id) => id !== undefined && id !== page.lastId && page.isKnown(id));
  return known.length * 2 > peeked.ids.length ? 'same' : 'different';
}

/**
 * Finds out how a service pages whose first page names no next one, with three requests at most: by page number, by
 * offset (with a limit of 1), by the last id.
 */
export async function probePositions(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
): Promise<ProbeResult> {
  const { url, firstPage } = params;
  const { count, lastId: after, size } = page;
  const at = (number: number): Position => ({ style: 'page', param: params.page, page: number, after });
  const offset: Position = { style: 'offset', param: params.offset ?? 'offset', offset: count };
  const next = (position: Position): ProbeResult => ({ kind: 'next', position });
  const overlapping: Position =
    after === undefined || count < 2 ? offset : { ...offset, offset: count - 1, after };
  const look = async (position: Position, limit = size): Promise<Found> =>
    compare(page, await peek(position, limit, true));

  let isLastIdLeft = true;
  let isNumberRejected = false;
  if (params.offset === undefined || url.searchParams.has(params.page)) {
    const second = await look(at(firstPage + 1));
    if (second === 'different' || second === 'empty') {
      const isNumberKnown = url.searchParams.has(params.page);
      const first = isNumberKnown ? 'same' : await look(at(firstPage));
      // The first page has the number 0 where number 1 is another one.
      if (first === 'different') return next(at(firstPage));
      if (second === 'different') return next(at(firstPage + 1));
      if (first !== 'empty') return { kind: 'nothing-behind' };
      // Both pages empty: the parameter may be taken for a filter, and then the offset, too.
      const found = await look(offset, 1);
      if (found === 'different') return next(overlapping);
      return found === 'empty' ? { kind: 'no-position', honoursLimit: true } : { kind: 'nothing-behind' };
    }
    isNumberRejected = second === 'rejected';
    // Where pages are counted from 0, the second one has the number 1.
    if (second === 'no-such-page') {
      const first = await look(at(firstPage));
      if (first === 'different') return next(at(firstPage));
      if (first === 'empty') return { kind: 'nothing-behind' };
      isLastIdLeft = false;
    }
  }
  const one = await peek(offset, params.limit === undefined ? undefined : 1, true);
  const behind = compare(page, one);
  const honoursLimit = one.kind === 'page' && one.count === 1 && count > 1;
  if (behind === 'different') return next(overlapping);
  if (behind === 'empty') return { kind: 'nothing-behind' };
  // Of two parameters it rejects one and ignores the other: it knows the first, and its pages may be counted from 0.
  if (isNumberRejected && behind === 'same') {
    const first = await look(at(firstPage));
    return first === 'different' ? next(at(firstPage)) : { kind: 'no-position', honoursLimit };
  }
  return isLastIdLeft ? probeLastId(params, page, peek, honoursLimit) : { kind: 'no-position', honoursLimit };
}

/** The last of the probes; alone, where the walk found that the service ignores the offset after all. */
export async function probeLastId(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
  honoursLimit: boolean,
): Promise<ProbeResult> {
  if (page.lastId === undefined) return { kind: 'no-position', honoursLimit };
  const position = positionById(params, undefined, page.lastId);
  const found = compare(page, await peek(position, page.size, true));
  if (found === 'different') return { kind: 'next', position };
  return found === 'empty' ? { kind: 'nothing-behind' } : { kind: 'no-position', honoursLimit };
}

/** The parameter that takes the last id, where a service says `has_more` and nothing else. */
export async function probeById(
  params: RequestParams,
  id: string,
  page: SilentPage,
  peek: Peek,
): Promise<Position | undefined> {
  const names = params.cursor === undefined ? ['starting_after', 'cursor', 'after'] : [params.cursor];
  for (const name of names) {
    const position = positionById(params, name, id);
    const found = compare(page, await peek(position, page.size, true));
    if (found === 'different' || found === 'empty') return position;
  }
  return undefined;
}
