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
 * Prints new leads, oldest first, until Ctrl-C, which is the ordinary end. Every poll reaches back by a day
 * and reads to the end, because the service chooses the order of the list; the first poll only learns the
 * leads that exist.
 */
export async function watchLeads(
  { service, query, matcher, every, print, previous, acceptIncomplete }: Watch,
  context: Context,
): Promise<void> {
  const { clock, signal, messages } = context;
  const ids = new IdSet();
  let metBefore: readonly KnownLead[] = [];
  const met = new Map<string, number>();
  let isFirst = true;
  /** Leads that are not printed yet: those of a failed poll do not come a second time. */
  let newLeads: RawLead[] = [];
  /** The first poll must know every lead; a later one may fail to prove its end, with a note. */
  const read = async (pages: () => Promise<void>): Promise<boolean> => {
    if (!isFirst) return isCompleteWalk(pages, context);
    await pages();
    return true;
  };
  const poll = async (): Promise<void> => {
    const since = Math.max(query.since ?? -Infinity, clock.now() - overlapMs);
    const acceptUnproven = unprovenHandler(acceptIncomplete, context.messages);
    const pollQuery = { ...query, since };
    const pages = listLeads(service, {
      query: pollQuery,
      seen: ids,
      expectedIds: expectedAgain(metBefore, pollQuery),
      prefetch: true,
      acceptUnproven,
    });
    const isProven = await read(async () => {
      for await (const { leads } of pages) {
        for (const lead of leads) {
          const created = readCreatedAt(lead.createdAt) ?? since;
          if (lead.id !== undefined) met.set(lead.id, created);
          if (lead.id !== undefined && matcher.matches(lead) && created >= since) newLeads.push(lead);
        }
      }
    });
    if (isProven) {
      isFirst = false;
      for (const [id, created] of met) if (created < since) met.delete(id);
      metBefore = [...met];
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
    const isNew = ({ id, createdAt }: RawLead): boolean =>
      !previous.ids.has(id) && (readCreatedAt(createdAt) ?? -Infinity) >= previous.startedAt;
    await print(first.filter(isNew));
    for (;;) {
      await messages.showWait(wait, () => clock.sleep(every, signal));
      await print(await readNew());
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}
