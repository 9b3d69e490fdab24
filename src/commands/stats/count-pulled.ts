import type { Context } from '../../context.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import { parseLead } from '../../lead/field.ts';
import { FieldPresence } from '../../lead/field-presence.ts';
import { leadFilter } from '../../lead/filter.ts';
import { showProgress } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing/listing.ts';
import { FieldValues } from '../../stats/field-values.ts';
import { unprovenHandler } from '../flags/accept-incomplete-flag.ts';
import { noteFilters, noteMissingFields } from '../flags/filter-notes.ts';
import { type CountedWindows, countedWindows } from './counted-windows.ts';
import type { StatsOptions } from './options.ts';
import { isPrevious, type StatsPlan } from './stats-plan.ts';

/** Counts the leads of the service, by when they were created. Throws an `IncompleteError` where the walk proves no end. */
export async function countPulled(
  options: StatsOptions,
  plan: StatsPlan,
  context: Context,
): Promise<CountedWindows> {
  const { messages, clock, status } = context;
  const service = await openService(context);
  const matcher = leadFilter(plan.filter);
  const fields = new FieldPresence(options.by ?? []);
  const values = new FieldValues(plan.facets);
  const [leads, before] = [plan.newCounts(), plan.newCounts(plan.shiftMs)];
  const walk = listLeads(service, {
    query: plan.query,
    prefetch: true,
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages),
  });
  const progress = showProgress(status, clock);
  try {
    for await (const batch of walk) {
      for (const lead of batch.leads) {
        if (!matcher.matches(lead)) continue;
        const time = readCreatedAt(lead.createdAt);
        if (fields.searching) fields.look(parseLead(lead));
        (isPrevious(plan, time) ? before : leads).add(values.ofBytes(lead), time);
      }
      progress.update(walk.stats.leads, walk.stats.total);
    }
  } finally {
    progress.clear();
  }
  noteFilters(matcher, messages);
  noteMissingFields('--by', fields, messages);
  return countedWindows(plan, { leads, receipts: undefined }, { leads: before, receipts: undefined });
}
