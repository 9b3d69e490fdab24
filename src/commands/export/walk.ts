import { InterruptedError, KeyRejectedError, LeadsError, messageOf, ServiceError } from '../../errors.ts';
import { InvalidRecord } from '../../json/scanned-record.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import { type Progress, showProgress } from '../../output/terminal/progress.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import { listLeads } from '../../service/listing.ts';
import { type Listing, mayHelpFromStart } from '../../service/listing-types.ts';
import { type Position, start } from '../../service/pagers/position.ts';
import type { Totals } from './checkpoint.ts';
import { isCompleteWalk, isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import { type ExportPlan, latest, type Publication } from './plan.ts';

/**
 * The output of an export: a file that can be resumed until it has its name, or a stream whose bytes cannot be taken back.
 * `status` shows the progress; it is undefined where the leads themselves appear on the terminal. The walk calls, in this order:
 * - `begin`
 * - `position`, before the first walk and before each repetition of it after an outage: where it begins; undefined: at the start
 * - `write` and `pageEnd` for each page, with the position of the next page, at which a resumed run would begin; undefined: none
 * - `walkEnd` after the first walk and after each poll, only with `--follow`
 * - `end`, or `breakOff` after a failure, which keeps as much as it can and returns the sentence that says what is kept
 * - `close`
 */
export interface Destination {
  readonly status: StatusLine | undefined;
  begin?(): Promise<void>;
  position?(): Position | undefined;
  write(leads: readonly RawLead[]): Promise<void>;
  pageEnd(next: Position | undefined): Promise<void>;
  walkEnd(): Promise<void>;
  end(): Promise<Publication | undefined>;
  breakOff(error: unknown, isInterrupted: boolean): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Reads the list of the service once, and with `--follow` again and again, and writes each lead that passes to the destination.
 * Adds to `plan.totals` as it goes. Throws the error that is to be reported.
 */
export const exportLeads = (plan: ExportPlan, destination: Destination): Promise<Publication | undefined> =>
  new LeadExport(plan, destination).run();

/**
 * `resumeAt` gives the position of a resumed run once the page before `next` is written (default: `next`). `restartedBy` is the
 * error that made an interrupted export read the list from its first page.
 */
interface Reading {
  readonly plan: ExportPlan;
  readonly from?: Position | undefined;
  readonly resumeAt?: (next: Position) => Position;
  readonly restartedBy?: unknown;
}

class LeadExport {
  readonly #plan: ExportPlan;
  readonly #totals: Totals;
  readonly #destination: Destination;
  readonly #progress: Progress;
  /** Whether the service has sent a page in the current reading. */
  #isAnswered = false;

  constructor(plan: ExportPlan, destination: Destination) {
    this.#plan = plan;
    this.#totals = plan.totals;
    this.#destination = destination;
    this.#progress = showProgress(destination.status, plan.context.clock, plan.totals.leads);
  }

  async run(): Promise<Publication | undefined> {
    const { options, window, startedAt } = this.#plan;
    const { follow: everyMs } = options;
    try {
      await this.#destination.begin?.();
      window?.beginWalk(startedAt);
      // A run that polls repeats its first walk until the service is there; another run tries once.
      if (everyMs === undefined) await this.#firstWalk();
      else await outliveOutages(() => this.#firstWalk(), { everyMs, hasWorked: false }, this.#plan.context);
      window?.completeWalk();
      if (everyMs !== undefined) {
        await this.#destination.walkEnd();
        await this.#poll(everyMs);
      }
      this.#progress.clear();
      return await this.#destination.end();
    } catch (error) {
      this.#progress.clear();
      throw await this.#breakOff(error);
    } finally {
      await this.#destination.close();
    }
  }

  /**
   * Reads from where an interrupted export stopped. If the service does not serve the list from there, reads it from its first
   * page instead: the leads that are written already are dropped by their ids.
   *
   * Meanwhile a checkpoint keeps `retryAt`, the position that failed or the start, and not `next`: leads that were written before
   * the restart may also come after `next`, and would count twice.
   */
  async #firstWalk(): Promise<void> {
    const plan = this.#plan;
    const from = this.#destination.position?.();
    if (from === undefined || from.style === 'start') return this.#read({ plan, from });
    // `--accept-incomplete` takes the end of a walk from the first page: an unproven end here leads to that walk, if it can.
    const acceptIncomplete = plan.options.acceptIncomplete && !this.#canReread;
    try {
      await this.#read({ plan: { ...plan, options: { ...plan.options, acceptIncomplete } }, from });
    } catch (error) {
      const unanswered = this.#isAnswered ? undefined : plan.service;
      if (!this.#canReread || !mayHelpFromStart(error, unanswered)) throw error;
      // The position may be good the next time if only a failure or a refusal of this moment kept it from being read.
      const isPassing = error instanceof ServiceError || error instanceof KeyRejectedError;
      const retryAt = isPassing ? from : start;
      const resumeAt = (next: Position): Position => (this.#canReread ? retryAt : next);
      await this.#read({ plan, restartedBy: error, resumeAt });
    }
  }

  /**
   * Whether the list may be read from its first page once more. False as soon as one record without an id is written, which would be
   * written twice: then a position that fails ends the export, and a resumed run goes on at the last `next`.
   */
  get #canReread(): boolean {
    return this.#totals.withoutId === 0;
  }

  /** Keeps what is written, and returns the error to report: what is kept is the hint of an interruption, else a note. */
  async #breakOff(error: unknown): Promise<unknown> {
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
  async #read({ plan, from, restartedBy, resumeAt = (next) => next }: Reading): Promise<void> {
    const { options, window } = plan;
    const { limit = Infinity } = options;
    const { messages } = this.#plan.context;
    const totals = this.#totals;
    const destination = this.#destination;
    this.#isAnswered = false;
    if (totals.leads >= limit) return;
    const walk = this.#list(plan, from);
    const totalsBefore = { ...totals };
    for await (const batch of walk) {
      this.#isAnswered = true;
      // Only now: if the first page fails as well, the position was not to blame.
      if (restartedBy !== undefined) {
        messages.note(
          'restarted',
          `the interrupted export cannot go on where it stopped, and reads from the first page again: ${messageOf(restartedBy)}`,
        );
      }
      const passing = plan.passing(this.#withoutInvalid(batch.leads));
      if (options.fields !== undefined) for (const lead of passing) plan.fields.examineLead(lead);
      const leads = passing.slice(0, limit - totals.leads);
      await destination.write(leads);
      totals.leads += leads.length;
      if (window !== undefined) for (const lead of leads) window.remember(lead);
      addStatistics(walk, totalsBefore, totals);
      if (totals.leads >= limit) break;
      if (batch.next !== undefined) await destination.pageEnd(resumeAt(batch.next));
      else if (batch.last) await destination.pageEnd(undefined);
      this.#progress.update(totals.leads, options.limit ?? walk.stats.total);
    }
    addStatistics(walk, totalsBefore, totals);
    noteFilters(plan.matcher, messages);
    noteMissingFields('--fields', plan.fields, messages);
  }

  #list(plan: ExportPlan, from: Position | undefined): Listing {
    const { options, query, ids, interruptedRun, window, bookmark } = plan;
    const { messages } = plan.context;
    return listLeads(plan.service, {
      query,
      pageSize: options.pageSize,
      from,
      concurrency: options.concurrency,
      seen: ids,
      // If some records lack an id, the walk may also find none in a record whose id was read from the partial file.
      interruptedRun: this.#canReread ? interruptedRun : undefined,
      expectedIds: window?.expectedIds(query),
      isKnownList: bookmark !== undefined,
      goesBackToStart: this.#canReread,
      prefetch: options.limit === undefined,
      keepsInvalid: options.skipInvalid,
      acceptUnproven: unprovenHandler(options.acceptIncomplete, messages, options.bookmark !== undefined),
    });
  }

  /** Leaves out the records that are not valid JSON, and names each of them: they come only with `--skip-invalid`. */
  #withoutInvalid(leads: readonly RawLead[]): readonly RawLead[] {
    if (!this.#plan.options.skipInvalid) return leads;
    for (const lead of leads) if (lead instanceof InvalidRecord) this.#noteLeftOut(lead);
    return leads.filter((lead) => !(lead instanceof InvalidRecord));
  }

  #noteLeftOut({ id = '', readableId, nth, offset }: InvalidRecord): void {
    const place = `lead ${nth} of a page`;
    const name = readableId === undefined ? place : `${readableId} (${place})`;
    this.#totals.leftOut.push(name);
    const why =
      offset === undefined ? 'it holds bytes that are not UTF-8' : `it is not valid JSON at byte ${offset}`;
    this.#plan.context.messages.note(`left-out-${id}`, `left out ${name}: ${why}`);
  }

  async #poll(everyMs: number): Promise<void> {
    const { limit = Infinity } = this.#plan.options;
    const { clock, signal, messages } = this.#plan.context;
    const wait = { ms: everyMs, why: 'the next poll', isExpected: true };
    try {
      while (this.#totals.leads < limit) {
        await messages.showWait(wait, () => clock.sleep(everyMs, signal));
        await outliveOutages(() => this.#pollOnce(), { everyMs, hasWorked: true }, this.#plan.context);
        await this.#destination.walkEnd();
      }
    } catch (error) {
      // Ctrl-C is the ordinary end of a run that polls.
      if (!isCtrlC(signal)) throw error;
    }
  }

  /** Asks for the leads since the newest one, and before it by the overlap: a lead may come late. Known ids are dropped. */
  async #pollOnce(): Promise<void> {
    const { ids, window } = this.#plan;
    ids.nextPass();
    window?.beginWalk(this.#plan.context.clock.now());
    const since = latest(this.#plan.query.since, window?.pollSince);
    const plan = { ...this.#plan, query: { ...this.#plan.query, since }, interruptedRun: undefined };
    // A poll asks for less than the first walk, so its positions mean nothing to a resumed run.
    const poll: Reading = { plan, resumeAt: () => start };
    if (await isCompleteWalk(() => this.#read(poll), this.#plan.context)) window?.completeWalk();
  }
}

function addStatistics({ stats }: Listing, before: Totals, totals: Totals): void {
  totals.retries = before.retries + stats.retries;
  totals.duplicates = before.duplicates + stats.duplicates;
  totals.withoutId = before.withoutId + stats.withoutId;
}
