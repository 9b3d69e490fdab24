import type { LeadSet, SandboxLead } from '../data/lead-set.ts';
import { isUnfiltered, type ListQuery, matches } from './list-query.ts';

/** The leads of one answer. */
export interface LeadPage {
  readonly leads: readonly SandboxLead[];
  /** Leads before this page that match; known for page and offset styles only. */
  readonly skipped: number | undefined;
  /** Whether more match after it. */
  readonly more: boolean;
  /** How many match in all, where `countTotal` says so. */
  readonly total: number | undefined;
}

/** The leads that match, in the order of the list, from the position that the query names. */
export function takePage(
  set: LeadSet,
  query: ListQuery,
  order: 'newest' | 'oldest',
  countTotal: boolean,
): LeadPage {
  if (isUnfiltered(query)) return slice(set, query, order, countTotal);
  const step = order === 'newest' ? -1 : 1;
  let toSkip = query.from.kind === 'skip' ? query.from.count : 0;
  const leads: SandboxLead[] = [];
  let more = false;
  let total = 0;
  for (let position = firstPosition(set, query, order); ; position += step) {
    const lead = set.at(position);
    if (lead === undefined) break;
    if (!matches(lead, query)) continue;
    total += 1;
    if (toSkip > 0) toSkip -= 1;
    else if (leads.length < query.limit) leads.push(lead);
    else {
      more = true;
      if (!countTotal) break;
    }
  }
  return {
    leads,
    skipped: query.from.kind === 'skip' ? query.from.count : undefined,
    more,
    total: countTotal ? total : undefined,
  };
}

/** The page with the last lead of the page before it in front, as services do whose offsets have moved. */
export function repeatLast(
  page: LeadPage,
  set: LeadSet,
  query: ListQuery,
  order: 'newest' | 'oldest',
): LeadPage {
  const { from } = query;
  const before =
    from.kind === 'skip' && from.count > 0
      ? takePage(set, { ...query, limit: 1, from: { kind: 'skip', count: from.count - 1 } }, order, false)
          .leads[0]
      : from.kind === 'after'
        ? set.at(set.positionAfter(from.createdAt, from.seq) - 1)
        : page.leads[0];
  return before === undefined ? page : { ...page, leads: [before, ...page.leads] };
}

/** Without filters positions are arithmetic: listing many leads must not count them again for each page. */
function slice(set: LeadSet, query: ListQuery, order: 'newest' | 'oldest', countTotal: boolean): LeadPage {
  const step = order === 'newest' ? -1 : 1;
  const skipped = query.from.kind === 'skip' ? query.from.count : undefined;
  const first = firstPosition(set, query, order) + step * (skipped ?? 0);
  const available = Math.max(0, order === 'newest' ? first + 1 : set.size - first);
  const leads: SandboxLead[] = [];
  for (let i = 0; i < Math.min(available, query.limit); i += 1) {
    const lead = set.at(first + step * i);
    if (lead !== undefined) leads.push(lead);
  }
  return { leads, skipped, more: available > query.limit, total: countTotal ? set.size : undefined };
}

function firstPosition(set: LeadSet, query: ListQuery, order: 'newest' | 'oldest'): number {
  if (query.from.kind !== 'after') return order === 'newest' ? set.size - 1 : 0;
  const position = set.positionAfter(query.from.createdAt, query.from.seq);
  if (order === 'oldest') return position;
  const lead = set.at(position - 1);
  const isItself = lead?.seq === query.from.seq && lead.createdAt === query.from.createdAt;
  return isItself ? position - 2 : position - 1;
}
