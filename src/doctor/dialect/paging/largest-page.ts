import type { DialectAsker, Query } from '../dialect-asker.ts';
import type { SeenPage } from '../seen-page.ts';
import type { LimitFinding } from './find-limit.ts';

/** The longest page from the front of the list, which later answers are compared with. */
export interface Reference {
  readonly page: SeenPage;
  /** What it was asked with. */
  readonly query: Query;
  /** The size that was asked for; undefined: none. */
  readonly asked: number | undefined;
  /** The smallest size that was rejected, and how. */
  readonly rejected: { readonly size: number; readonly status: number | undefined } | undefined;
}

const largest = 1000;
/** After a first rejection, a size is looked for in these, from the middle on. */
const usualCaps = [10, 20, 25, 50, 100, 200, 250, 500];

/** Reads as long a page as the service gives. */
export async function readLargestPage(
  asker: DialectAsker,
  first: SeenPage,
  limit: LimitFinding,
): Promise<Reference> {
  const plain: Reference = { page: first, query: {}, asked: undefined, rejected: undefined };
  if (limit.kind !== 'honoured') return plain;
  const { name, companions } = limit;
  const ask = async (size: number): Promise<Reference | { message: string; status: number | undefined }> => {
    const query = { ...companions, [name]: String(size) };
    const seen = await asker.ask(query);
    if (seen.kind === 'page' && seen.count > 0)
      return { page: seen, query, asked: size, rejected: undefined };
    return seen.kind === 'rejected' ? seen : { message: '', status: undefined };
  };
  const whole = await ask(largest);
  if ('page' in whole) return whole;
  if (whole.status === undefined) return plain;
  let rejected = { size: largest, status: whole.status as number | undefined };
  let best: Reference | undefined;
  let candidates = [...new Set([...usualCaps, ...namedSizes(whole.message)])].toSorted((a, b) => a - b);
  let next = namedSizes(whole.message)[0] ?? 100;
  while (asker.left > 12) {
    const one = await ask(next);
    if ('page' in one) best = one;
    else rejected = { size: next, status: one.status };
    const [low, high] = [best?.asked ?? 0, rejected.size];
    candidates = candidates.filter((size) => size > low && size < high);
    const middle = candidates[Math.floor(candidates.length / 2)];
    if (middle === undefined) break;
    next = middle;
  }
  return { ...(best ?? plain), rejected };
}

/** Numbers in an error's text that may be the largest size. */
const namedSizes = (message: string): number[] =>
  (message.match(/\b\d{1,3}\b/g) ?? [])
    .map(Number)
    .filter((size) => size > 0 && size !== 400 && size !== 422);
