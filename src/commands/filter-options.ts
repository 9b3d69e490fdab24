import * as z from 'zod/mini';
import type { LeadFilter } from '../lead/filter.ts';
import type { LeadQuery } from '../service/listing/lead-query.ts';
import { condition, pointInTime, text, texts } from './values.ts';

/** Spread into a command's `options`: `z.object({ ...filterShape, … })`. */
export const filterShape = {
  status: z.optional(text()),
  category: texts(),
  since: z.optional(pointInTime()),
  until: z.optional(pointInTime()),
  where: z._default(z.array(condition()), []),
};

export type FilterOptions = z.output<z.ZodMiniObject<typeof filterShape>>;

/** What is asked of the service and what is checked here, both with times resolved against one `now`. */
export function resolveFilter(
  options: FilterOptions,
  now: number,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const since = options.since?.(now);
  const until = options.until?.(now);
  return {
    query: { status: options.status, categories: options.category, since, until },
    filter: { categories: options.category, since, until, where: options.where },
  };
}
