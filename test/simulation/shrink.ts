import type { Plan } from './world/plan.ts';

/** The first of these plans that fails in the same way, or undefined. */
export type FirstFailing = (candidates: readonly Plan[]) => Promise<Plan | undefined>;

/**
 * A plan that fails in the same way with as few happenings as possible, and then in as short a time and with as few leads:
 * Zeller's ddmin over the happenings, then halves.
 */
export async function shrink(plan: Plan, firstFailing: FirstFailing): Promise<Plan> {
  let smallest = plan;
  let parts = 2;
  while (smallest.happenings.length > 0) {
    const { happenings } = smallest;
    const size = Math.ceil(happenings.length / Math.min(parts, happenings.length));
    const candidates: Plan[] = [];
    for (let from = 0; from < happenings.length; from += size) {
      const without = happenings.filter((_, at) => at < from || at >= from + size);
      candidates.push({ ...smallest, happenings: without });
    }
    const found = await firstFailing(candidates);
    if (found !== undefined) {
      smallest = found;
      parts = Math.max(2, parts - 1);
    } else if (size > 1) {
      parts *= 2;
    } else {
      break;
    }
  }
  for (const shorter of [withLength, withLeads]) {
    for (const part of [0.1, 0.25, 0.5, 0.75, 0.9]) {
      const found = await firstFailing([shorter(smallest, part)]);
      if (found === undefined) continue;
      smallest = found;
      break;
    }
  }
  return smallest;
}

function withLength(plan: Plan, part: number): Plan {
  const lengthMs = Math.ceil(plan.lengthMs * part);
  return { ...plan, lengthMs, happenings: plan.happenings.filter(({ at }) => at < lengthMs) };
}

const withLeads = (plan: Plan, part: number): Plan => ({ ...plan, leads: Math.ceil(plan.leads * part) });
