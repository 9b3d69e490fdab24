import { InterruptedError, KeyRejectedError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { InvalidRecord } from '../../json/scanned-record.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import { type Progress, showProgress } from '../../output/terminal/progress.ts';
import { listLeads } from '../../service/listing.ts';
import { type Listing, mayHelpFromStart } from '../../service/listing-types.ts';
import { type Position, start } from '../../service/pagers/position.ts';
import type { Totals } from './checkpoint.ts';
import { isCompleteWalk, isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import { type Destination, type ExportPlan, latest, type Publication } from './plan.ts';

export const exportLeads = (plan: ExportPlan, destination: Destination): Promise<Publication | undefined> =>
  new LeadExport(plan, destination).run();

interface Reading {
  readonly plan: ExportPlan;
  readonly from?: Position | undefined;
  /** The position of a resumed run once the page before `next` is written. Default: `next`. */
  readonly resumeAt?: (next: Position) => Position;
  /** The error that made an interrupted export read the list from its first page. */
  readonly restartedBy?: unknown;
}

class LeadExport {
  readonly #plan: ExportPlan;
  readonly #totals: Totals;
  readonly #destination: Destination;
  readonly #progress: Progress;
  /** Whether the service has answered the reading that is under way. */
  #isAnswered = false;

  constructor(plan: ExportPlan, destination: Destination) {
    this.#plan = plan;
    this.#totals = plan.totals;
    this.#destination = destination;
    this.#progress = showProgress(destination.status, plan.context.clock, plan.totals.leads);
  }

  async run(): Promise<Publication | undefined> {
    const { options, window, startedAt } = this.#plan;
    const { follow: every } = options;
    try {
      await this.#destination.begin?.();
      window?.beginWalk(startedAt);
      // A run that polls repeats its first walk until the service is there; another run tries once.
      if (every === undefined) await this.#firstWalk();
      else await outliveOutages(() => this.#firstWalk(), { every, hasWorked: false }, this.#plan.context);
      window?.completeWalk();
      if (every !== undefined) {
        await this.#destination.walkEnd();
        await this.#poll(every);
      }
      this.#progress.clear();
      return await this.#destination.end();
    } catch (error) {
      this.#progress.clear();
      throw await this.#brokenOff(error);
    } finally {
      await this.#destination.close();
    }
  }

  /** An interrupted export that cannot be completed from where it stopped is read from the first page, whose leads are known. */
  async #firstWalk(): Promise<void> {
    const plan = this.#plan;
    const from = this.#destination.position?.();
    if (from === undefined || from.style === 'start') return this.#read({ plan, from });
    // Records without an id would be written again.
    const canReread = (): boolean => this.#totals.withoutId === 0;
    // The end that is accepted without a proof must be the end of a walk from the first page.
    const acceptIncomplete = plan.options.acceptIncomplete && !canReread();
    try {
      await this.#read({ plan: { ...plan, options: { ...plan.options, acceptIncomplete } }, from });
    } catch (error) {
      const unanswered = this.#isAnswered ? undefined : plan.service;
      if (!canReread() || !mayHelpFromStart(error, unanswered)) throw error;
      // A position that a failure or a refusal of the moment kept from being read may be good the next time.
      const isPassing = error instanceof ServiceError || error instanceof KeyRejectedError;
      const retryAt = isPassing ? from : start;
      // Known leads come after the positions of this reading as well, where a resumed run would not count them.
      const resumeAt = (next: Position): Position => (canReread() ? retryAt : next);
      await this.#read({ plan, restartedBy: error, resumeAt });
    }
  }

  /** Returns the error to report: a hint of an interruption says what is kept, a note does so beside any other failure. */
  async #brokenOff(error: unknown): Promise<unknown> {
    const { signal, messages } = this.#plan.context;
    const reason: unknown = signal.reason;
    const isInterrupted = signal.aborted && reason instanceof InterruptedError;
    if (!isInterrupted && !(error instanceof LeadsError)) return error;
    const message = await this.#destination.breakOff(error, isInterrupted);
    if (message === undefined) return error;
    if (isInterrupted) return new InterruptedError(reason.signal, { hint: message, cause: error });
    messages.note('kept', message);
    return error;
  }

  /** Writes the leads of one reading to its end or to `--limit`; adds to the totals as it goes. */
  async #read(reading: Reading): Promise<void> {
    const { plan, from, restartedBy, resumeAt = (next: Position) => next } = reading;
    const { options, window } = plan;
    const { limit } = options;
    const { messages } = this.#plan.context;
    const totals = this.#totals;
    const destination = this.#destination;
    this.#isAnswered = false;
    if (limit !== undefined && totals.leads >= limit) return;
    const walk = this.#list(plan, from);
    const totalsBefore = { ...totals };
    for await (const batch of walk) {
      this.#isAnswered = true;
      // A first page that fails as well says nothing of the position.
      if (restartedBy !== undefined) {
        messages.note(
          'restarted',
          `the interrupted export cannot go on where it stopped, and reads from the first page again: ${messageOf(restartedBy)}`,
        );
      }
      let leads = batch.leads.filter((lead) => !this.#isLeftOut(lead) && plan.passes(lead));
      if (limit !== undefined) leads = leads.slice(0, limit - totals.leads);
      await destination.write(leads);
      totals.leads += leads.length;
      if (window !== undefined) for (const lead of leads) window.remember(lead);
      addStatistics(walk, totalsBefore, totals);
      if (limit !== undefined && totals.leads >= limit) break;
      if (batch.next !== undefined) await destination.pageEnd(resumeAt(batch.next));
      else if (batch.last) await destination.pageEnd(undefined);
      this.#progress.update(totals.leads, limit ?? walk.stats.total);
    }
    addStatistics(walk, totalsBefore, totals);
    noteFilters(plan.matcher, messages);
    noteMissingFields('--fields', plan.fields, messages);
  }

  #list(plan: ExportPlan, from: Position | undefined): Listing {
    const { options, query, ids, interruptedRun, window, bookmark } = plan;
    const hasOnlyIds = this.#totals.withoutId === 0;
    return listLeads(plan.service, {
      query,
      pageSize: options.pageSize,
      from,
      concurrency: options.concurrency,
      seen: ids,
      // A walk that finds records without an id may take what the partial file has for one as none.
      interruptedRun: hasOnlyIds ? interruptedRun : undefined,
      expectedIds: window?.expectedIds(query),
      isKnownList: bookmark !== undefined,
      goesBackToStart: hasOnlyIds,
      prefetch: options.limit === undefined,
      keepsInvalid: options.skipInvalid,
      acceptUnproven: unprovenHandler(
        options.acceptIncomplete,
        this.#plan.context.messages,
        options.bookmark !== undefined,
      ),
    });
  }

  #isLeftOut(lead: RawLead): boolean {
    if (!(lead instanceof InvalidRecord)) return false;
    const { readableId, nth, offset } = lead;
    const place = `lead ${nth} of a page`;
    const name = readableId === undefined ? place : `${readableId} (${place})`;
    this.#totals.leftOut.push(name);
    const why =
      offset === undefined ? 'it holds bytes that are not UTF-8' : `it is not valid JSON at byte ${offset}`;
    this.#plan.context.messages.note(`left-out-${lead.id ?? ''}`, `left out ${name}: ${why}`);
    return true;
  }

  /**
   * Polls until Ctrl-C, which is the ordinary end, or `--limit`. Every poll reaches back by the overlap; ids that were seen
   * before are not written again.
   */
  async #poll(every: number): Promise<void> {
    const { limit } = this.#plan.options;
    const { clock, signal, messages } = this.#plan.context;
    const wait = { ms: every, why: 'the next poll', isExpected: true };
    try {
      while (limit === undefined || this.#totals.leads < limit) {
        await messages.showWait(wait, () => clock.sleep(every, signal));
        await outliveOutages(() => this.#pollOnce(), { every, hasWorked: true }, this.#plan.context);
        await this.#destination.walkEnd();
      }
    } catch (error) {
      if (!isCtrlC(signal)) throw error;
    }
  }

  async #pollOnce(): Promise<void> {
    const { ids, window } = this.#plan;
    ids.nextPass();
    window?.beginWalk(this.#plan.context.clock.now());
    const since = latest(this.#plan.query.since, window?.pollSince);
    const plan = { ...this.#plan, query: { ...this.#plan.query, since }, interruptedRun: undefined };
    // A poll requests less than the first walk did, so its positions mean nothing to a resumed run.
    const poll: Reading = { plan, resumeAt: () => start };
    if (await isCompleteWalk(() => this.#read(poll), this.#plan.context)) window?.completeWalk();
  }
}

function addStatistics({ stats }: Listing, before: Totals, totals: Totals): void {
  totals.retries = before.retries + stats.retries;
  totals.duplicates = before.duplicates + stats.duplicates;
  totals.withoutId = before.withoutId + stats.withoutId;
}
