import { InterruptedError, KeyRejectedError, LeadsError, ServiceError } from '../../errors.ts';
import { InvalidRecord } from '../../json/invalid-record.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/filter-notes.ts';
import { type Progress, showProgress } from '../../output/terminal/progress.ts';
import type { Batch, Completion, Listing } from '../../service/listing-types.ts';
import { listLeads, mayHelpFromStart } from '../../service/listing.ts';
import type { Position } from '../../service/pagers/position.ts';
import { completeWalk, isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import {
  type Destination,
  type ExportContext,
  type ExportPlan,
  type ExportRun,
  latest,
  type Publication,
  type Totals,
} from './plan.ts';

/** Writes the whole export to its destination: the first walk, the polls that follow it, and the end. */
export const exportLeads = (run: ExportRun, destination: Destination): Promise<Publication | undefined> =>
  new LeadExport(run, destination).run();

/** A run that polls asks for all pages from the first one at one of so many failures. */
const rereadEvery = 10;

type PageSink = Pick<Destination, 'write' | 'pageEnd'>;

class LeadExport {
  readonly #plan: ExportPlan;
  readonly #context: ExportContext;
  readonly #totals: Totals;
  readonly #destination: Destination;
  readonly #progress: Progress;
  /** The position at which an interrupted export stopped, and how often it has failed in this run. */
  readonly #resumedAt: Position | undefined;
  #failures = 0;

  constructor({ plan, context, totals }: ExportRun, destination: Destination) {
    this.#plan = plan;
    this.#context = context;
    this.#totals = totals;
    this.#destination = destination;
    this.#progress = showProgress(destination.status, context.clock, totals.leads);
    this.#resumedAt = destination.position?.();
  }

  async run(): Promise<Publication | undefined> {
    const { options, window, startedAt } = this.#plan;
    const { follow: every } = options;
    const first = (): Promise<Completion | undefined> => this.#firstWalk();
    try {
      await this.#destination.begin?.();
      window?.beginWalk(startedAt);
      // A run that polls repeats its first walk until the service is there; another run tries once.
      const end =
        every === undefined
          ? await first()
          : await outliveOutages(first, { every, hasWorked: false }, this.#context);
      window?.completeWalk(end);
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
  async #firstWalk(): Promise<Completion | undefined> {
    const from = this.#destination.position?.();
    // Records without an id would be written again.
    const canReread = (): boolean =>
      from !== undefined && from.style !== 'start' && this.#totals.withoutId === 0;
    // The end that is accepted without a proof must be the end of a walk from the first page.
    const first = canReread()
      ? { ...this.#plan, options: { ...this.#plan.options, acceptIncomplete: false } }
      : this.#plan;
    let answers = 0;
    const counting: PageSink = {
      write: (leads) => {
        answers += 1;
        return this.#destination.write(leads);
      },
      pageEnd: (next) => this.#destination.pageEnd(next),
    };
    try {
      return await this.#transfer(first, counting, from);
    } catch (error) {
      const unanswered = answers > 0 ? undefined : this.#plan.service;
      if (!canReread() || !mayHelpFromStart(error, unanswered)) throw error;
      if (error instanceof ServiceError && !this.#isTimeToReread(from)) throw error;
      return await this.#reread(error, from);
    }
  }

  /** A position at which the service fails is taken for one that it does not know any more, at the first of some failures. */
  #isTimeToReread(position: Position | undefined): boolean {
    if (position !== this.#resumedAt) return false;
    this.#failures += 1;
    return this.#failures % rereadEvery === 1;
  }

  async #reread(why: unknown, from: Position | undefined): Promise<Completion | undefined> {
    // A position that a failure or a refusal of the moment kept from being read may be good the next time.
    const isPassing = why instanceof ServiceError || why instanceof KeyRejectedError;
    const kept = isPassing ? from : undefined;
    const { sentenceOf } = await import('../../messages/find-message.ts');
    const sink: PageSink = {
      write: (leads) => {
        // A first page that fails as well says nothing of the position.
        this.#context.messages.note(
          'restarted',
          `the interrupted export cannot go on where it stopped, and reads from the first page again: ${sentenceOf(why)}`,
        );
        return this.#destination.write(leads);
      },
      // Known leads come after these positions as well, where a resumed run would not count them.
      pageEnd: (next) => {
        const isKept = next === undefined || next.style === 'start' || this.#totals.withoutId > 0;
        return this.#destination.pageEnd(isKept ? next : (kept ?? { style: 'start' }));
      },
    };
    return this.#transfer(this.#plan, sink);
  }

  /** Returns the error to report: a hint of an interruption says what is kept, a note does so beside any other failure. */
  async #brokenOff(error: unknown): Promise<unknown> {
    const { signal, messages } = this.#context;
    const reason: unknown = signal.reason;
    const isInterrupted = signal.aborted && reason instanceof InterruptedError;
    if (!isInterrupted && !(error instanceof LeadsError)) return error;
    const kept = await this.#destination.breakOff(error, isInterrupted);
    if (kept === undefined) return error;
    if (isInterrupted) return new InterruptedError(reason.signal, { hint: kept, cause: error });
    messages.note('kept', kept);
    return error;
  }

  /** Takes the leads of one walk to its end, which it returns, or to `--limit`; adds to the totals as it goes. */
  async #transfer(plan: ExportPlan, sink: PageSink, from?: Position): Promise<Completion | undefined> {
    const { options, window } = plan;
    const { limit, concurrency = 1 } = options;
    const { messages } = this.#context;
    const totals = this.#totals;
    if (limit !== undefined && totals.leads >= limit) return undefined;
    const walk = this.#list(plan, from);
    const totalsBefore = { ...totals };
    for await (const batch of walk) {
      let leads = batch.leads.filter((lead) => !this.#isLeftOut(lead) && plan.passes(lead));
      if (limit !== undefined) leads = leads.slice(0, limit - totals.leads);
      await sink.write(leads);
      totals.leads += leads.length;
      if (window !== undefined) for (const lead of leads) window.remember(lead);
      addStatistics(walk, totalsBefore, totals);
      if (limit !== undefined && totals.leads >= limit) break;
      if (batch.next !== undefined || batch.last) await sink.pageEnd(batch.next);
      if (concurrency > 1) noteUselessConcurrency(batch, messages);
      this.#progress.update(totals.leads, limit ?? walk.stats.total);
    }
    addStatistics(walk, totalsBefore, totals);
    noteFilters(plan.matcher, messages);
    noteMissingFields('--fields', plan.fields, messages);
    return walk.completion;
  }

  #list(plan: ExportPlan, from: Position | undefined): Listing {
    const { options, query, seen, interruptedRun, window, bookmark } = plan;
    const { acceptIncomplete, concurrency, limit, pageSize, skipInvalid } = options;
    const hasOnlyIds = this.#totals.withoutId === 0;
    return listLeads(plan.service, {
      ...{ query, pageSize, from, seen, concurrency },
      // A walk that finds records without an id may take what the partial file has for one as none.
      interruptedRun: hasOnlyIds ? interruptedRun : undefined,
      before: window?.runBefore(query),
      isKnownList: bookmark !== undefined,
      goesBackToStart: hasOnlyIds,
      prefetch: limit === undefined,
      keepsInvalid: skipInvalid,
      acceptUnproven: unprovenHandler(
        acceptIncomplete,
        this.#context.messages,
        options.bookmark !== undefined,
      ),
    });
  }

  /** A record that is no JSON is named at once, and again at the end. */
  #isLeftOut(lead: RawLead): boolean {
    if (!(lead instanceof InvalidRecord)) return false;
    const { readableId, nth, offset } = lead;
    const place = `lead ${nth} of a page`;
    const name = readableId === undefined ? place : `${readableId} (${place})`;
    this.#totals.leftOut.push(name);
    const why =
      offset === undefined ? 'it holds bytes that are not UTF-8' : `it is not valid JSON at byte ${offset}`;
    this.#context.messages.note(`left-out-${lead.id ?? ''}`, `left out ${name}: ${why}`);
    return true;
  }

  /**
   * Polls until Ctrl-C, which is the ordinary end, or `--limit`. Every poll reaches back by the overlap; ids that were seen
   * before are not written again.
   */
  async #poll(every: number): Promise<void> {
    const { limit } = this.#plan.options;
    const { clock, signal, messages } = this.#context;
    const wait = { ms: every, why: 'the next poll', isExpected: true };
    try {
      while (limit === undefined || this.#totals.leads < limit) {
        await messages.waiting(wait, () => clock.sleep(every, signal));
        await outliveOutages(() => this.#pollOnce(), { every, hasWorked: true }, this.#context);
        await this.#destination.walkEnd();
      }
    } catch (error) {
      if (!isCtrlC(signal)) throw error;
    }
  }

  async #pollOnce(): Promise<void> {
    const { seen, window } = this.#plan;
    seen.nextPass();
    window?.beginWalk(this.#context.clock.now());
    const since = latest(this.#plan.query.since, window?.pollSince);
    const plan = { ...this.#plan, query: { ...this.#plan.query, since }, interruptedRun: undefined };
    const sink: PageSink = {
      write: (leads) => this.#destination.write(leads),
      // A poll requests less than the first walk did, so its positions mean nothing to a resumed run.
      pageEnd: () => this.#destination.pageEnd({ style: 'start' }),
    };
    const polled = await completeWalk(() => this.#transfer(plan, sink), this.#context);
    if (polled !== undefined) window?.completeWalk(polled.end);
  }
}

function addStatistics({ stats }: Listing, before: Totals, totals: Totals): void {
  totals.retries = before.retries + stats.retries;
  totals.duplicates = before.duplicates + stats.duplicates;
  totals.withoutId = before.withoutId + stats.withoutId;
  totals.restarts = before.restarts + stats.restarts;
}

function noteUselessConcurrency({ next }: Batch, messages: ExportContext['messages']): void {
  if (next === undefined || ['start', 'page', 'offset'].includes(next.style)) return;
  messages.note(
    'concurrency',
    '--concurrency has no effect: this service names the next page only in the page before it',
  );
}
