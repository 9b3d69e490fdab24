import type * as z from 'zod/mini';
import { numberParams, timeParams } from './names.ts';
import type { carriedAlong, positionSchema } from './position-schema.ts';

/** The place where a page begins: a plain JSON value that a checkpoint stores, and at which `listLeads` continues. */
export type Position = Readonly<z.output<typeof positionSchema>>;

export type NumberPosition = Extract<Position, { readonly style: 'page' | 'offset' }>;

export const start: Position = { style: 'start' };

const noPlace: Record<keyof typeof carriedAlong | 'window', undefined> = {
  size: undefined,
  totals: undefined,
  lacksRunBefore: undefined,
  window: undefined,
};

/** Equal for two positions that ask for the same page: what the walk only carries along is left out. */
export const positionKey = (position: Position): string => JSON.stringify({ ...position, ...noPlace });

export const wholeNumberIn = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** A URL with such a parameter continues from an opaque mark: its page or offset is not the whole position. */
const opaqueParam = /cursor|token|after|before|bookmark|scroll/i;

/** Filters by time, which a next URL repeats; `after` and `before` alone may as well be marks. */
const filterParams = new Set(timeParams.flat().filter((name) => name !== 'after' && name !== 'before'));

/** The page number, or the number of records to skip, in the query of a URL; undefined where it has none, or an opaque mark. */
export function countInUrl({ searchParams }: URL) {
  const isMark = (name: string): boolean => opaqueParam.test(name) && !filterParams.has(name);
  if ([...searchParams.keys()].some(isMark)) return undefined;
  for (const kind of ['offset', 'page'] as const) {
    for (const param of numberParams[kind].inAddress) {
      const value = wholeNumberIn(searchParams.get(param));
      if (value !== undefined) return { kind, value };
    }
  }
  return undefined;
}

/** Whether a position counts pages or records, so that it means another place when the list moves. */
export function isCounting(position: Position): boolean {
  const { style } = position;
  if (style === 'cursor') return position.counts === true;
  if (style === 'url') return countInUrl(new URL(position.url)) !== undefined;
  return style === 'page' || style === 'offset';
}
