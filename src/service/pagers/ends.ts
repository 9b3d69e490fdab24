import type { Evidence, PageAnswer } from './pager.ts';

/** Defaults and greatest page sizes of public interfaces. */
const usualCaps = [
  10, 15, 16, 20, 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 128, 150, 200, 250, 256, 300, 500, 512, 1024,
];

/** Whether `count` is a number at which services cut their pages. */
export const isUsualCap = (count: number): boolean =>
  usualCaps.includes(count) || (count > 0 && count % 1000 === 0);

/**
 * What an answer says of its end beside the next page; `read`: places of the list up to its end. Some totals are cut as
 * well: one that a full page reaches is no end.
 */
export function endOf(
  { hints, facts: { count }, request }: PageAnswer,
  read: number,
  longest = 0,
): Evidence | undefined {
  if (hints.hasMore === false) return 'explicit-end';
  if (hints.hasMore === true || count === 0 || hints.total !== read) return undefined;
  const isFull = longest > 0 ? count >= longest : count === request.limit || isUsualCap(count);
  return isFull ? undefined : 'total';
}

/** Statuses by which services reject a position. */
export const rejectsPosition = (status: number | undefined): boolean =>
  [400, 404, 410, 416, 422].includes(status ?? 0);
