import type { Peeked } from '../fetch/peek.ts';

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
  /** The page size that the answer shows. */
  readonly shownSize: number | undefined;
}

export type Found =
  | 'different'
  | 'empty'
  /** The first page came again. */
  | 'same'
  /** It came again, and leads that arrived took the place of others: the service cuts its answer there. */
  | 'cut'
  | 'no-such-page'
  | 'rejected';

/** What a page is that was asked for by a parameter which the service may ignore, while leads arrive and vanish. */
export function compare(page: SilentPage, peeked: Peeked): Found {
  if (peeked.kind === 'rejected') return peeked.status === 404 ? 'no-such-page' : 'rejected';
  if (peeked.count === 0) return 'empty';
  const { firstId, lastId, count, isKnown } = page;
  if (firstId === undefined) return peeked.firstMark === page.firstMark ? 'same' : 'different';
  const { ids } = peeked;
  const isOld = (id: string | undefined): boolean => id !== undefined && isKnown(id);
  const old = ids.filter(isOld);
  if (old.length >= count) return 'same';
  const isFirstThere = ids.includes(firstId);
  // One record that is another one than the first: the list has grown by as much.
  if (ids.length === 1) return isFirstThere ? 'same' : 'different';
  const isLong = ids.length >= count;
  const isMostlyOld = old.filter((id) => id !== lastId).length * 2 > Math.max(count, ids.length);
  if (!isMostlyOld && !(isLong && isFirstThere)) return 'different';
  // A longer page shows that the first one was not cut where it ended.
  return ids.length === count && old.length < ids.length ? 'cut' : 'same';
}

/** Whether a page holds leads that were not on the first one. */
export const holdsOthers = ({ isKnown }: SilentPage, peeked: Peeked): boolean =>
  peeked.kind === 'page' && peeked.ids.some((id) => id !== undefined && !isKnown(id));

/**
 * Whether a page is the first one although an offset was asked for: what a probe found there, instead of the first
 * lead, stands in front of it.
 */
export function isInFront(
  page: SilentPage,
  probed: string | undefined,
  ids: readonly (string | undefined)[],
): boolean {
  const at = ids.indexOf(probed);
  const first = ids.indexOf(page.firstId);
  return first < 0 ? at === 0 : at >= 0 && at < first;
}
