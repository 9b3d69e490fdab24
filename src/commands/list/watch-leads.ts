import type { Context } from '../../context.ts';
import { InterruptedError } from '../../errors.ts';
import { createdMs, type LeadFilter, leadFilter } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { Service } from '../../service/client/service.ts';

interface Watch {
  readonly service: Service;
  readonly query: LeadQuery;
  readonly filter: LeadFilter;
  /** Milliseconds between two polls. */
  readonly every: number;
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
}

/** How late a lead may come and still be shown, in ms, as with `export --follow`. */
const overlapMs = 86_400_000;

/**
 * Prints leads that were not there before, oldest first, until Ctrl-C, which is the ordinary end. Every poll
 * reaches back by a day and reads to the end, since the order of the list is the service's own; the first only learns
 * what is there.
 */
export async function watchLeads(
  { service, query, filter, every, print }: Watch,
  context: Context,
): Promise<void> {
  const { clock, signal } = context;
  const passes = leadFilter(filter);
  const seen = new IdSet();
  const startedAt = clock.now();
  const poll = async (): Promise<RawLead[]> => {
    const since = Math.max(query.since ?? -Infinity, clock.now() - overlapMs);
    const found: RawLead[] = [];
    for await (const { leads } of listLeads(service, { query: { ...query, since }, seen, prefetch: true })) {
      // A record without an id may have been shown before.
      for (const lead of leads) {
        if (lead.id !== undefined && passes(lead) && !(createdMs(lead) < since)) found.push(lead);
      }
    }
    return found.reverse();
  };
  try {
    const first = await poll();
    await print(first.filter((lead) => createdMs(lead) >= startedAt));
    for (;;) {
      await clock.sleep(every, signal);
      await print(await poll());
    }
  } catch (error) {
    const reason: unknown = signal.reason;
    if (!(signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT')) throw error;
  }
}
