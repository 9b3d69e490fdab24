import type { Context } from '../../context.ts';
import { oldestFirst, readCreatedAt, type RawLead } from '../../lead/raw-lead.ts';
import type { LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { listLeads } from '../../service/listing.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { IncrementalWindow } from '../export/bookmark.ts';
import { isCompleteWalk, isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import type { Service } from '../../service/client/service.ts';

interface Watch {
  readonly service: Service;
  readonly query: LeadQuery;
  readonly matcher: LeadMatcher;
  readonly every: number;
  readonly print: (leads: readonly RawLead[]) => Promise<void>;
  /** The start of the first listing in milliseconds, and the ids that it showed. */
  readonly previous: { readonly startedAt: number; readonly ids: ReadonlySet<string | undefined> };
  readonly acceptIncomplete: boolean;
}

/** A lead is shown until this age in milliseconds, as with `export --follow`. */
const overlapMs = 86_400_000;

/**
 * Prints new leads, oldest first, until Ctrl-C, which is the ordinary end. Every poll reaches back by a day and reads to the end,
 * because the service chooses the order of the list. The first poll learns which leads exist, and prints those that came after
 * the listing before it.
 */
export async function watchLeads(
  { service, query, matcher, every, print, previous, acceptIncomplete }: Watch,
  context: Context,
): Promise<void> {
  const { clock, signal, messages } = context;
  const ids = new IdSet();
  const window = new IncrementalWindow(overlapMs);
  let isFirst = true;

  /** Adds to `newLeads`, also over repetitions after failures: what one of them has listed is not listed again. */
  async function poll(newLeads: RawLead[]): Promise<void> {
    const since = Math.max(query.since ?? -Infinity, clock.now() - overlapMs);
    const pages = listLeads(service, {
      query: { ...query, since },
      seen: ids,
      expectedIds: window.expectedIds({ ...query, since }),
      prefetch: true,
      acceptUnproven: unprovenHandler(acceptIncomplete, messages),
    });
    for await (const { leads } of pages) {
      for (const lead of leads) {
        // Without an id, a lead would be new to every poll.
        if (lead.id === undefined) continue;
        window.remember(lead);
        const created = readCreatedAt(lead.createdAt) ?? since;
        if (matcher.matches(lead) && created >= since) newLeads.push(lead);
      }
    }
  }

  async function readNew(): Promise<readonly RawLead[]> {
    const newLeads: RawLead[] = [];
    const step = async (): Promise<void> => {
      window.beginWalk(clock.now());
      // The first poll must prove its end, or throws: it has to learn of every lead.
      if (isFirst) await poll(newLeads);
      else if (!(await isCompleteWalk(() => poll(newLeads), context))) return;
      isFirst = false;
      window.completeWalk();
    };
    await outliveOutages(step, { everyMs: every, hasWorked: true }, context);
    noteFilters(matcher, messages);
    return oldestFirst(newLeads);
  }

  const wait = { ms: every, why: 'the next poll', isExpected: true };
  const cameAfterListing = ({ id, createdAt }: RawLead): boolean =>
    !previous.ids.has(id) && (readCreatedAt(createdAt) ?? -Infinity) >= previous.startedAt;
  try {
    await print((await readNew()).filter(cameAfterListing));
    for (;;) {
      await messages.showWait(wait, () => clock.sleep(every, signal));
      await print(await readNew());
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}
