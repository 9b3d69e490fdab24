import type { TotalsSoFar } from '../pagination/position.ts';
import type { PageTally } from './passes.ts';

/** A count of leads that no total equals, however many are added. */
const lost = Number.MIN_SAFE_INTEGER;

/** What the pages of one pass over the list say of its total, and the different leads that were met. */
export interface Totals {
  /** Different leads met in this pass; undefined when it began in the middle, or was read again in part. */
  readonly met: number | undefined;
  /** Different leads met in all passes, as far as they were new to the walk. */
  readonly metInAll: number;
  /** Records that the first page held twice: some totals count them. */
  readonly repeated: number;
  /** Leads in all, as the first page and the last one say. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly hasFallen: boolean;
  /** When the first page came, by the service's clock: milliseconds since the epoch. */
  readonly began: number | undefined;
  /** One arrived behind the pages that were read: another may have gone without a change of the total. */
  readonly hasArrivals: boolean;
  /** Leads that the run before had met were counted by it. */
  readonly isResumed: boolean;
}

export const totalsFrom = (soFar?: TotalsSoFar, met: number | undefined = 0): Totals => ({
  met: soFar?.met ?? met,
  metInAll: 0,
  repeated: 0,
  first: soFar?.first,
  last: soFar?.last,
  hasFallen: false,
  began: soFar?.began,
  hasArrivals: false,
  isResumed: soFar !== undefined,
});

interface CountedPage {
  readonly tally: PageTally;
  readonly isFirst: boolean;
  /** As the answer says. */
  readonly total: number | undefined;
  /** When it was answered, and when its last lead was created, if it says so: milliseconds since the epoch. */
  readonly answeredAt: number;
  readonly createdAt: number | undefined;
}

/** The totals with one page more. */
export function countPage(before: Totals, page: CountedPage): Totals {
  const { fresh, earlier, withoutId, repeated } = page.tally;
  const { total = before.last } = page;
  const began = before.began ?? page.answeredAt;
  const added = fresh + withoutId - (before.isResumed ? earlier : 0);
  return {
    ...before,
    met: before.met === undefined ? undefined : before.met + added,
    metInAll: before.metInAll + fresh - earlier,
    repeated: page.isFirst ? repeated : before.repeated,
    first: before.first ?? total,
    last: total,
    hasFallen: before.hasFallen || (total ?? 0) < (before.last ?? 0),
    began,
    hasArrivals: before.hasArrivals || (page.createdAt !== undefined && page.createdAt > began),
  };
}

/**
 * The cheap proof that nothing moved over the border of a page: the total never fell, was met exactly, and no lead
 * arrived that could fill the place of one that was passed over.
 */
export function isSettled({ met, repeated, first, last, hasFallen, hasArrivals }: Totals): boolean {
  if (met === undefined || hasFallen || hasArrivals) return false;
  return [met, met + repeated].some((count) => count === first || count === last);
}

/** Settled, and the total was the same all the time: where it grew, a lead may have moved to the front unread. */
export const isUnchanged = (totals: Totals): boolean => isSettled(totals) && totals.first === totals.last;

/**
 * For a position that a later walk goes on from. With `isNumbered`, one whose count is lost says so: the borders that
 * were left to the totals are then to be checked by that walk.
 */
export function totalsSoFar(totals: Totals, isNumbered: boolean): TotalsSoFar | undefined {
  const { met, first, last, began } = totals;
  if (first === undefined || last === undefined) return undefined;
  const isLost = met === undefined || totals.hasFallen || totals.hasArrivals;
  if (isLost && !isNumbered) return undefined;
  return { met: isLost ? lost : met, first, last, began };
}
