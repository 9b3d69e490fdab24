import type { Context } from '../../context.ts';
import { InterruptedError } from '../../errors.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import type { LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteUnreadableTimes } from '../../output/summary.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import type { Service } from '../../service/client/service.ts';

interface Watch {
  readonly service: Service;
  readonly query: LeadQuery;
  readonly matcher: LeadMatcher;
  /** Milliseconds between two looks. */
  readonly every: number;
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
}

/** How late a lead may come and still be shown, as with `export --follow`. */
const overlap = 86_400_000;

/**
 * Prints leads that were not there before, oldest first, until Ctrl-C, which is the ordinary end. Every look reaches
 * back by a day, to its end, since the order of the list is the service's own; the first one only learns what is there.
 */
export async function watch(
  { service, query, matcher, every, print }: Watch,
  context: Context,
): Promise<void> {
  const { clock, signal } = context;
  const seen = new IdSet();
  const begun = clock.now();
  const look = async (): Promise<RawLead[]> => {
    const since = Math.max(query.since ?? -Infinity, clock.now() - overlap);
    const found: RawLead[] = [];
    for await (const { leads } of listLeads(service, { query: { ...query, since }, seen, prefetch: true })) {
      // A record without an id cannot be told from one that was shown.
      for (const lead of leads) {
        const created = readCreatedAt(lead.createdAt) ?? since;
        if (lead.id !== undefined && matcher.matches(lead) && created >= since) found.push(lead);
      }
    }
    noteUnreadableTimes(matcher.unreadableTimes, context.messages);
    return found.reverse();
  };
  try {
    const first = await look();
    await print(first.filter((lead) => (readCreatedAt(lead.createdAt) ?? -Infinity) >= begun));
    for (;;) {
      await clock.sleep(every, signal);
      await print(await look());
    }
  } catch (error) {
    const reason: unknown = signal.reason;
    if (!(signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT')) throw error;
  }
}
