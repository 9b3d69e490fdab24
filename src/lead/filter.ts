import type { Condition } from './condition.ts';
import type { LeadText } from './text.ts';

export interface LeadFilter {
  /** Any of these; empty means all. */
  readonly categories: readonly string[];
  /** Milliseconds since the epoch: since <= createdAt < until. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** All of these. */
  readonly where: readonly Condition[];
}

/** Whether a lead passes; parses a record only for `where`. A lead without the field that is filtered by does not. */
export function leadFilter(filter: LeadFilter): (lead: LeadText) => boolean {
  return (lead) => {
    if (filter.categories.length > 0 && !filter.categories.includes(lead.category ?? '')) return false;
    if (filter.since === undefined && filter.until === undefined) return true;
    const created = Date.parse(lead.createdAt ?? '');
    return created >= (filter.since ?? -Infinity) && created < (filter.until ?? Infinity);
  };
}
