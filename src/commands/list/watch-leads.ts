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
 */
export async function watchLeads(watch: Watch, context: Context): Promise<void> {
  const { every, print, previous } = watch;
  const { clock, signal, messages } = context;
  const polls = new Polls(watch, context);
  const wait = { ms: every, why: 'the next poll', isExpected: true };
  const cameAfterListing = ({ id, createdAt }: RawLead): boolean =>
    !previous.ids.has(id) && (readCreatedAt(createdAt) ?? -Infinity) >= previous.startedAt;
  try {
    await print((await polls.readNew()).filter(cameAfterListing));
    for (;;) {
      await messages.showWait(wait, () => clock.sleep(every, signal));
      await print(await polls.readNew());
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}

/**
 * - `#ids`: the leads of all polls, which are not listed again
 * - `#createdAt`: when the leads of the last day were created, by id, in milliseconds
 * - `#knownLeads`: the same after the last poll with a proven end: the next poll must meet some of these
 * - `#newLeads`: the leads that the present poll found, over its repetitions after failures
 */
class Polls {
  readonly #watch: Watch;
  readonly #context: Context;
  readonly #ids = new IdSet();
  readonly #createdAt = new Map<string, number>();
  #knownLeads: readonly KnownLead[] = [];
  #newLeads: RawLead[] = [];
  #isFirst = true;

  constructor(watch: Watch, context: Context) {
    this.#watch = watch;
    this.#context = context;
  }

  async readNew(): Promise<RawLead[]> {
    this.#newLeads = [];
    const polling = { everyMs: this.#watch.every, hasWorked: true };
    await outliveOutages(() => this.#poll(), polling, this.#context);
    return oldestFirst(this.#newLeads);
  }

  async #poll(): Promise<void> {
    const { query, matcher } = this.#watch;
    const since = Math.max(query.since ?? -Infinity, this.#context.clock.now() - overlapMs);
    if (await this.#readToEnd(since)) {
      this.#isFirst = false;
      for (const [id, created] of this.#createdAt) if (created < since) this.#createdAt.delete(id);
      this.#knownLeads = [...this.#createdAt];
    }
    noteFilters(matcher, this.#context.messages);
  }

  /** Returns whether the end was proven. The first poll must prove it, or throws: it has to learn of every lead. */
  async #readToEnd(since: number): Promise<boolean> {
    if (!this.#isFirst) return isCompleteWalk(() => this.#readSince(since), this.#context);
    await this.#readSince(since);
    return true;
  }

  async #readSince(since: number): Promise<void> {
    const { service, matcher, acceptIncomplete } = this.#watch;
    const query = { ...this.#watch.query, since };
    const pages = listLeads(service, {
      query,
      seen: this.#ids,
      expectedIds: expectedAgain(this.#knownLeads, query),
      prefetch: true,
      acceptUnproven: unprovenHandler(acceptIncomplete, this.#context.messages),
    });
    for await (const { leads } of pages) {
      for (const lead of leads) {
        // Without an id, a lead would be new to every poll.
        if (lead.id === undefined) continue;
        const created = readCreatedAt(lead.createdAt) ?? since;
        this.#createdAt.set(lead.id, created);
        if (matcher.matches(lead) && created >= since) this.#newLeads.push(lead);
      }
    }
  }
}
