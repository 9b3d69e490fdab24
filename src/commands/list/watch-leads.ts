import type { Context } from '../../context.ts';
import { oldestFirst, readCreatedAt, type RawLead } from '../../lead/raw-lead.ts';
import type { LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { listLeads } from '../../service/listing.ts';
import { expectedAgain, type KnownLead, type LeadQuery } from '../../service/listing-types.ts';
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
 *
 * Between two polls: `ids` has the leads of all polls, which do not come again; `createdAt` those of the last day, by id, with
 * their creation times; `knownLeads` is the same as it was after the last poll with a proven end: the next poll must meet some of
 * these. `newLeads` collects what is to be printed, over the repetitions of one poll after failures.
 */
export async function watchLeads(
  { service, query, matcher, every, print, previous, acceptIncomplete }: Watch,
  context: Context,
): Promise<void> {
  const { clock, signal, messages } = context;
  const ids = new IdSet();
  let knownLeads: readonly KnownLead[] = [];
  const createdAt = new Map<string, number>();
  let isFirstPoll = true;
  let newLeads: RawLead[] = [];
  /** Returns whether the end was proven. The first poll must prove it, or throws: it has to learn of every lead. */
  const readToEnd = async (readPages: () => Promise<void>): Promise<boolean> => {
    if (!isFirstPoll) return isCompleteWalk(readPages, context);
    await readPages();
    return true;
  };
  const poll = async (): Promise<void> => {
    const since = Math.max(query.since ?? -Infinity, clock.now() - overlapMs);
    const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
    const pollQuery = { ...query, since };
    const pages = listLeads(service, {
      query: pollQuery,
      seen: ids,
      expectedIds: expectedAgain(knownLeads, pollQuery),
      prefetch: true,
      acceptUnproven,
    });
    const isProven = await readToEnd(async () => {
      for await (const { leads } of pages) {
        for (const lead of leads) {
          const created = readCreatedAt(lead.createdAt) ?? since;
          // Without an id, a lead would be new to every poll.
          if (lead.id === undefined) continue;
          createdAt.set(lead.id, created);
          if (matcher.matches(lead) && created >= since) newLeads.push(lead);
        }
      }
    });
    if (isProven) {
      isFirstPoll = false;
      for (const [id, created] of createdAt) if (created < since) createdAt.delete(id);
      knownLeads = [...createdAt];
    }
    noteFilters(matcher, context.messages);
  };
  const readNew = async (): Promise<RawLead[]> => {
    newLeads = [];
    await outliveOutages(poll, { everyMs: every, hasWorked: true }, context);
    return oldestFirst(newLeads);
  };
  const wait = { ms: every, why: 'the next poll', isExpected: true };
  try {
    const first = await readNew();
    const isNew = ({ id, createdAt: created }: RawLead): boolean =>
      !previous.ids.has(id) && (readCreatedAt(created) ?? -Infinity) >= previous.startedAt;
    await print(first.filter(isNew));
    for (;;) {
      await messages.showWait(wait, () => clock.sleep(every, signal));
      await print(await readNew());
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}
