import { positionById } from '../../pagination/next-position.ts';
import type { Position } from '../../pagination/position.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { Peek, Peeked } from '../fetch/peek.ts';
import { compare, holdsOthers, type SilentPage } from './compare-pages.ts';

export type ProbeResult =
  /** The service honours a position: the walk goes on there; and what is left to ask where it is ignored after all. */
  | {
      readonly kind: 'next';
      readonly position: Position;
      readonly rest?: RestOfProbes;
      /** It is the first page once more, which has changed. */
      readonly isFirst?: boolean;
    }
  /** The service honours a position, and nothing is behind the last record. */
  | { readonly kind: 'nothing-behind' }
  /** The service honours no position. */
  | {
      readonly kind: 'no-position';
      readonly honoursLimit: boolean;
      /** The first page came again with others in the place of some leads: it does not hold all of them. */
      readonly isCut: boolean;
      /** It rejects an offset. */
      readonly isRejected: boolean;
    };

/** What the probes before the last one found, and which the last one is. */
export interface RestOfProbes {
  readonly last: 'first-number' | 'last-id' | 'last-id, first-number' | 'zero' | 'none';
  readonly honoursLimit: boolean;
  readonly isRejected: boolean;
  readonly isCut: boolean;
  /** The lead that was found at the offset. */
  readonly probed?: string | undefined;
}

const next = (position: Position, isFirst = false): ProbeResult => ({ kind: 'next', position, isFirst });
const numbered = ({ page: param }: RequestParams, number: number, { lastId }: SilentPage): Position => ({
  ...{ style: 'page', param, page: number, after: lastId },
});

/**
 * Finds out how a service pages whose first page names no next one, with three requests at most: by page number, by
 * offset (with a limit of 1), by the last id; and a fourth one, by the first number, where each of them is rejected.
 */
export async function probePositions(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
): Promise<ProbeResult> {
  const { url, firstPage } = params;
  const { count, lastId: after, size } = page;
  const offset: Position = { style: 'offset', param: params.offset ?? 'offset', offset: count };
  const overlapping: Position =
    after === undefined || count < 2 ? offset : { ...offset, offset: count - 1, after };
  const lookAt = (number: number): Promise<Peeked> => peek(numbered(params, number, page), size, true);

  let last: RestOfProbes['last'] = 'last-id';
  let isCut = false;
  if (params.offset === undefined || url.searchParams.has(params.page)) {
    const second = compare(page, await lookAt(firstPage + 1));
    if (second === 'different' || second === 'empty' || second === 'no-such-page') {
      const isNumberKnown = url.searchParams.has(params.page) && second !== 'no-such-page';
      const again = isNumberKnown ? undefined : await lookAt(firstPage);
      const first = again === undefined ? 'same' : compare(page, again);
      const hasOthers = again !== undefined && holdsOthers(page, again);
      const isFirst = first === 'same' || first === 'cut';
      if (second === 'different') return next(numbered(params, isFirst ? firstPage + 1 : firstPage, page));
      // Page 1 is the second one where they are counted from 0; or the list moved, and a lead from behind stands there.
      if (first === 'different' || hasOthers) return next(numbered(params, firstPage, page), isFirst);
      if (second === 'no-such-page') {
        if (first === 'empty') return next(numbered(params, firstPage - 1, page), true);
        last = 'none';
      } else {
        if (first !== 'empty') return { kind: 'nothing-behind' };
        // Both pages empty: the parameter may be taken for a filter, and then the offset, too.
        // A whole page: where the offset is ignored, it shows a lead that moved up meanwhile.
        const one = await peek(offset, page.size, true);
        const found = compare(page, one);
        const probed = one.kind === 'page' ? one.ids[0] : undefined;
        const rest = { last: 'zero', honoursLimit: true, isCut, isRejected: false, probed } as const;
        if (found === 'different') return { kind: 'next', position: overlapping, rest };
        if (found === 'empty') return { kind: 'no-position', ...rest };
        // Pages are counted from 0, and the only one may have changed.
        const isAll = found === 'same' && !holdsOthers(page, one);
        return isAll ? { kind: 'nothing-behind' } : probeRest(params, page, peek, rest);
      }
    }
    isCut = second === 'cut';
    // Of two parameters it rejects one and ignores the other: it knows the first, and its pages may be counted from 0.
    if (second === 'rejected') last = 'first-number';
  }
  const one = await peek(offset, params.limit === undefined ? undefined : 1, true);
  const behind = compare(page, one);
  const rest = {
    last: last === 'first-number' && behind === 'rejected' ? 'last-id, first-number' : last,
    honoursLimit: one.kind === 'page' && one.count === 1 && count > 1,
    isCut: isCut || behind === 'cut',
    isRejected: behind === 'rejected',
  } as const;
  if (behind === 'different') {
    const probed = one.kind === 'page' ? one.ids[0] : undefined;
    return { kind: 'next', position: overlapping, rest: { ...rest, probed } };
  }
  // A lead that vanished may have moved the last one over the border: the walk shows it, since it overlaps.
  if (behind === 'empty') return overlapping === offset ? { kind: 'nothing-behind' } : next(overlapping);
  return probeRest(params, page, peek, rest);
}

/** The last of the probes; alone, where the walk found that the service ignores the offset after all. */
export async function probeRest(
  params: RequestParams,
  page: SilentPage,
  peek: Peek,
  { last, honoursLimit, isRejected, isCut }: RestOfProbes,
): Promise<ProbeResult> {
  if (last === 'zero') return next(numbered(params, params.firstPage - 1, page), true);
  let isCutHere = isCut;
  if (last.startsWith('last-id') && page.lastId !== undefined) {
    const position = positionById(params, undefined, page.lastId);
    const answer = await peek(position, page.size, true);
    const found = compare(page, answer);
    if (found === 'different') return next(position);
    if (found === 'empty') return { kind: 'nothing-behind' };
    // An offset that is rejected may lie behind the end of a list that has become shorter: others moved up from there.
    if (found === 'cut' || (isRejected && holdsOthers(page, answer))) isCutHere = true;
    if (found !== 'rejected') return { kind: 'no-position', honoursLimit, isRejected, isCut: isCutHere };
  }
  if (last.endsWith('first-number')) {
    const position = numbered(params, params.firstPage, page);
    const first = await peek(position, page.size, true);
    const found = compare(page, first);
    if (found === 'different' || found === 'cut' || (found === 'same' && holdsOthers(page, first)))
      return next(position, found !== 'different');
  }
  return { kind: 'no-position', honoursLimit, isRejected, isCut: isCutHere };
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
