import { NumberedPager } from './numbered.ts';
import { type Covered, OverlapPager, type Place, type Ruler } from './overlap.ts';
import { type PageAnswer, type Pager, type Step, turn } from './pager.ts';
import type { Position } from './position.ts';

/** Below that, a second reading costs as much as overlapping pages. */
const fewestOverlapping = 30;

/** A parameter that takes a page number, and the number of the first page. */
export interface PageParam {
  readonly param: string;
  readonly base: number;
  /** Nothing has shown whether pages count from this number or from the one before. */
  readonly isBaseUnseen?: boolean;
  readonly ignored?: ((first: PageAnswer) => Step) | undefined;
}

const positionOf = ({ param, base }: PageParam, page: number): Extract<Position, { style: 'page' }> => ({
  style: 'page',
  param,
  page: page + base,
  base,
});

/**
 * Page by page, each with the size that the first one had. Where it is not known from which number pages count, they are read as
 * if they did from the lower one: then no page is passed over, and the first one may come twice.
 */
export function fixedPages(of: PageParam, overlapping?: () => Pager): NumberedPager {
  const counted = of.isBaseUnseen === true ? { ...of, base: of.base - 1 } : of;
  return new NumberedPager({
    position: (nth) => positionOf(counted, nth),
    mayRepeatFirst: of.isBaseUnseen,
    overlapping,
    ignored: of.ignored,
  });
}

/** The same where an answer counts the leads: a count that changes is a reason to let pages overlap. */
const countedPages = (of: PageParam): NumberedPager => fixedPages(of, () => overlappingPages(of));

/** Pages whose size becomes smaller from one to the next, so that each begins within what was read. */
function overlappingPages(of: PageParam): OverlapPager {
  return new OverlapPager(new PageRuler(of), () => overlappingPages(of));
}

/** Whether pages can overlap that are as long as the first one: by the ids of its records. */
export const canOverlap = ({ facts, tail }: PageAnswer, least: number): boolean =>
  facts.count >= least && tail.at(-1)?.hasId === true;

/**
 * The way through numbered pages that the first one allows: as they are where a total counts them or where they are short,
 * overlapping otherwise.
 */
export function pagesBehind(of: PageParam, first: PageAnswer, overlaps: boolean): Pager {
  if (!overlaps || !canOverlap(first, fewestOverlapping)) return fixedPages(of);
  const { total } = first.hints;
  return total !== undefined && total >= first.facts.count ? countedPages(of) : overlappingPages(of);
}

class PageRuler implements Ruler {
  readonly #of: PageParam;

  constructor(of: PageParam) {
    this.#of = of;
  }

  windowAfter({ places, largest, isProven }: Covered, overlap: number): Place {
    // No service that ignores the size gives such records on its third page.
    const { page, limit, begin } = windowAfter(places, largest, overlap, isProven ? 0 : 2);
    return { position: positionOf(this.#of, page), limit, begin };
  }

  otherwise(first: PageAnswer): Step {
    const pager = fixedPages(this.#of);
    return turn(pager, pager.goOn(first, 1));
  }
}

/** A page number of a walk that is resumed. */
export function pagesFrom(
  position: Extract<Position, { readonly style: 'page' }>,
  of: Omit<PageParam, 'param'>,
): Pager {
  const param = { ...of, param: position.param };
  // Whether pages were found to count from 0 is not stored.
  const isBaseUnseen = of.base < 1;
  if (position.window === undefined)
    return fixedPages(isBaseUnseen ? { ...param, base: of.base + 1, isBaseUnseen } : param).resumeAt(
      position.page - of.base,
      position.size,
    );
  return overlappingPages(param).resumeAt(position, position.size);
}

/** A page whose begin lies within what was read: numbers from 0, places of the list before it. */
export interface Window {
  readonly page: number;
  readonly limit: number;
  readonly begin: number;
}

/**
 * The page that begins at least `overlap` records before the end of what was read, and ends furthest after it: of all
 * sizes up to `largest`. Page numbers count from 0; `leastPage` is the smallest one that may be used.
 */
export function windowAfter(covered: number, largest: number, overlap = 1, leastPage = 0): Window {
  const latest = Math.max(0, covered - overlap);
  let best: Window = { page: 0, limit: largest, begin: 0 };
  let end = 0;
  for (let limit = largest; limit > 0; limit -= 1) {
    const page = Math.floor(latest / limit);
    if (page < leastPage || (page + 1) * limit <= end) continue;
    best = { page, limit, begin: page * limit };
    end = best.begin + limit;
  }
  return best;
}
