import type { TwoPages } from '../dialect-asker.ts';

/** Leads that may arrive in front of the list while two answers are compared. */
export const arrivals = 2;

/** Whether keys are those of the place behind the first `length` leads of the list `front`. */
export function isBehind(front: readonly string[], length: number, keys: readonly string[]): boolean {
  const [first] = keys;
  if (first === undefined) return false;
  const before = front.slice(0, Math.max(1, length - arrivals));
  if (keys.some((key) => before.includes(key))) return false;
  return front.length <= length || front.slice(0, length + arrivals + 1).includes(first);
}

/** Why the two pages of a walk are not the beginning of the list `front`; undefined: they are. */
export function faultOfWalk(front: readonly string[], walked: TwoPages): string | undefined {
  if (walked.kind === 'unasked') return 'no request was left to try it';
  if (walked.kind === 'failed') return walked.why;
  const { first, second } = walked;
  if (!front.slice(0, 1 + arrivals).some((key) => first.includes(key)))
    return 'its first page is not the front of the list';
  return isBehind(front, first.length, second)
    ? undefined
    : 'its second page is not the one behind the first';
}
