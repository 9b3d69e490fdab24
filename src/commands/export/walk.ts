import { InterruptedError, KeyRejectedError, LeadsError, ServiceError, UsageError } from '../../errors.ts';
import { InvalidRecord } from '../../json/invalid-record.ts';
import { parseLead, type RawLead } from '../../lead/raw-lead.ts';
import type { WriterOptions } from '../../output/records/record-types.ts';
import { counted, noteReplaced, type Progress, showProgress } from '../../output/terminal/progress.ts';
import type { Messages } from '../../output/messages.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import type { Completion } from '../../service/listing-types.ts';
import { listLeads, mayHelpFromFront } from '../../service/listing.ts';
import type { Batch, LeadQuery, Listing, ListingOptions } from '../../service/listing-types.ts';
import type { Position } from '../../service/pagers/position.ts';
import { completeWalk, isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { noteFilters, noteMissingFields } from '../../messages/filter-notes.ts';
import type { Counts } from './checkpoint.ts';
import type { Context } from '../../context.ts';
import { type Bookmark, IncrementalWindow, readBookmark } from './bookmark.ts';
import { FieldPresence, leadFilter, type LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { Service } from '../../service/client/service.ts';
import type { ExportOptions } from './options.ts';

const usualOverlapMs = 86_400_000;

/** One export with everything about it resolved. */
export interface ExportPlan {
  readonly service: Service;
  readonly options: ExportOptions;
  /** When the first attempt began, in ms: relative times count from here. */
  readonly startedAt: number;
  readonly query: LeadQuery;
  readonly passes: (lead: RawLead) => boolean;
  readonly matcher: LeadMatcher;
  /** Of `--fields`. */
  readonly fields: FieldPresence;
  readonly seen: IdSet;
  /** What is in `seen` beside the leads of the bookmark: an interrupted export, or an attempt of this run, has met it. */
  readonly attempt: ListingOptions['attempt'];
  /** Set with `--bookmark` and `--follow`: what the next run or poll needs to know. */
  readonly window: IncrementalWindow | undefined;
  /** As the last run left it. */
  readonly bookmark: Bookmark | undefined;
  /** What a bookmark belongs to. */
  readonly account: Readonly<Record<string, unknown>>;
}

/**
 * Resolves times against `startedAt` (ms) and reads the bookmark of `--bookmark`, which must be locked by now. Throws a
 * `UsageError` for a bookmark of another service or of other filters.
 */
export async function planExport(
  service: Service,
  options: ExportOptions,
  startedAt: number,
): Promise<ExportPlan> {
  const { query, filter } = resolveFilter(options, startedAt, service.messages);
  const { id, item } = service.dialect;
  const account = {
    service: service.account.baseUrl.href,
    path: service.dialect.path ?? null,
    status: query.status ?? null,
    categories: filter.categories,
    where: filter.where,
    'api.id': id ?? null,
    'api.item': item ?? null,
  };
  const seen = new IdSet();
  const { bookmark: path, overlap = usualOverlapMs } = options;
  const bookmark = path === undefined ? undefined : await readBookmark(path);
  if (bookmark !== undefined && JSON.stringify(bookmark.of) !== JSON.stringify(account)) {
    throw new UsageError(`the bookmark ${path ?? ''} belongs to another service or other filters`, {
      hint: 'use one bookmark for each service and set of filters',
    });
  }
  const window =
    path === undefined && options.follow === undefined ? undefined : new IncrementalWindow(overlap, bookmark);
  const ofRunsBefore = new Set(window?.ids());
  for (const id of ofRunsBefore) seen.preload(id);
  const attempt: ExportPlan['attempt'] = {
    get size() {
      return seen.size - ofRunsBefore.size;
    },
    has: (id) => seen.has(id) && !ofRunsBefore.has(id),
  };
  const since = latest(query.since, window?.since);
  const matcher = leadFilter(filter);
  const fields = new FieldPresence(options.fields ?? []);
  const passes = (lead: RawLead): boolean => {
    if (!matcher.matches(lead) || window?.passes(lead) === false) return false;
    if (fields.searching) fields.look(parseLead(lead));
    return true;
  };
  return {
    service,
    options,
    startedAt,
    query: { ...query, since },
    passes,
    matcher,
    fields,
    seen,
    attempt,
    window,
    bookmark,
    account,
  };
}

/** How the leads are written. */
export const formOf = ({ options, service }: Pick<ExportPlan, 'options' | 'service'>): WriterOptions => ({
  fields: options.fields,
  idName: service.dialect.id,
  escapeFormulas: options.escape,
  byteOrderMark: options.bom,
  delimiter: options.delimiter,
  zone: options.zone,
  onCut(cells) {
    const what = counted(cells, 'cell was', 'cells were');
    service.messages.note('cut', `${what} cut: a cell of a workbook holds 32,767 characters`);
  },
  onReplaced: (cells) => noteReplaced(cells, service.messages),
});

const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

export type ExportContext = Pick<Context, 'clock' | 'signal' | 'messages' | 'status' | 'stdout' | 'pid'>;

export interface Totals extends Counts {
  leftOut: string[];
  restarts: number;
}

/** What became of a file that was there before, for the summary. */
export type Publication = 'appended' | `replaced ${string}`;

/** What there is to say of an export that was written. */
export interface Written {
  /** How many of its leads an interrupted export had written. */
  readonly before: number;
  readonly publication?: Publication | undefined;
}

/** Where an export goes: a file that can be resumed until it has its name, or a stream whose bytes cannot be taken back. */
export interface Destination {
  /** Undefined where what is written shows how far it is. */
  readonly status: StatusLine | undefined;
  /** Before the first request. */
  begin?(): Promise<void>;
  /** Where the first walk begins, or begins again after an outage; undefined: at the first page. */
  position?(): Position | undefined;
  write(leads: readonly RawLead[]): Promise<void>;
  /** A page is complete; the next one begins at `next`, undefined after the last. */
  pageEnd(next: Position | undefined): Promise<void>;
  /** A walk of a run that polls is complete: the first one, or a poll. */
  walkEnd(): Promise<void>;
  /** Everything was written: a file gets its name. */
  end(): Promise<Publication | undefined>;
  /** Keeps what can be kept of an export that breaks off; what there is to say of that. */
  breakOff(error: unknown, isInterrupted: boolean): Promise<string | undefined>;
  /** However the export ends. */
  close(): Promise<void>;
}

/** The whole export, whatever it is written to: the first walk, the polls behind it, and the end. */
export async function exportLeads(
  plan: ExportPlan,
  context: ExportContext,
  totals: Totals,
  destination: Destination,
): Promise<Publication | undefined> {
  const { options, window } = plan;
  const progress = showProgress(destination.status, context.clock, totals.leads);
  const ofRunBefore = destination.position?.();
  let failures = 0;
  const mayBeDead: MayBeDead = (position) => {
    if (position !== ofRunBefore) return false;
    failures += 1;
    return failures % frontEvery === 1;
  };
  const first = (): Promise<Completion | undefined> =>
    firstWalk(plan, destination, totals, context, progress, mayBeDead);
  try {
    await destination.begin?.();
    window?.beginWalk(plan.startedAt);
    // The first walk of a run that polls is repeated until the service is there; of another run it is one attempt.
    const { follow: every } = options;
    const end =
      every === undefined ? await first() : await outliveOutages(first, { every, hasWorked: false }, context);
    window?.completeWalk(end);
    if (options.follow !== undefined) {
      await destination.walkEnd();
      await pollUntilInterrupted(plan, options.follow, destination, totals, context, progress);
    }
    progress.clear();
    return await destination.end();
  } catch (error) {
    progress.clear();
    throw await brokenOff(error, destination, context);
  } finally {
    await destination.close();
  }
}

/** A run that polls asks for all pages from the front at one of so many failures, the first of them. */
const frontEvery = 10;

/** Whether a position at which the service failed is to be taken for one that it does not know any more. */
type MayBeDead = (position: Position | undefined) => boolean;

/** What an interrupted export cannot complete from where it stopped is read from the front, whose leads are known. */
async function firstWalk(
  plan: ExportPlan,
  destination: Destination,
  totals: Totals,
  context: ExportContext,
  progress: Progress,
  mayBeDead: MayBeDead,
): Promise<Completion | undefined> {
  const from = destination.position?.();
  // Records without an id would be written again.
  const canGoBack = (): boolean => from !== undefined && from.style !== 'start' && totals.withoutId === 0;
  // What is accepted is what the front does not prove either.
  const first = canGoBack() ? { ...plan, options: { ...plan.options, acceptIncomplete: false } } : plan;
  let answers = 0;
  const counting: Pick<Destination, 'write' | 'pageEnd'> = {
    write(leads) {
      answers += 1;
      return destination.write(leads);
    },
    pageEnd: (next) => destination.pageEnd(next),
  };
  let why: unknown;
  try {
    return await transfer(first, counting, totals, context, progress, from);
  } catch (error) {
    const unanswered = answers > 0 ? undefined : plan.service;
    if (!canGoBack() || !mayHelpFromFront(error, unanswered)) throw error;
    if (error instanceof ServiceError && !mayBeDead(from)) throw error;
    why = error;
  }
  // A position that a failure or a refusal of the moment kept from being read may be good the next time.
  const isPassing = why instanceof ServiceError || why instanceof KeyRejectedError;
  const kept = isPassing ? from : undefined;
  const { sentenceOf } = await import('../../messages/find-message.ts');
  const sink: Pick<Destination, 'write' | 'pageEnd'> = {
    write(leads) {
      // A front that fails as well says nothing of the position.
      context.messages.note(
        'restarted',
        `the interrupted export cannot go on where it stopped, and reads from the first page again: ${sentenceOf(why)}`,
      );
      return destination.write(leads);
    },
    // What is known stands behind its positions as well, where a resumed run would not count it.
    pageEnd(next) {
      const isKept = next === undefined || next.style === 'start' || totals.withoutId > 0;
      return destination.pageEnd(isKept ? next : (kept ?? { style: 'start' }));
    },
  };
  return transfer(plan, sink, totals, context, progress);
}

/** The error to report: what was kept is in the hint of an interruption, and in a note beside any other failure. */
async function brokenOff(
  error: unknown,
  destination: Destination,
  { signal, messages }: ExportContext,
): Promise<unknown> {
  const reason: unknown = signal.reason;
  const isInterrupted = signal.aborted && reason instanceof InterruptedError;
  if (!isInterrupted && !(error instanceof LeadsError)) return error;
  const kept = await destination.breakOff(error, isInterrupted);
  if (kept === undefined) return error;
  if (isInterrupted) return new InterruptedError(reason.signal, { hint: kept, cause: error });
  messages.note('kept', kept);
  return error;
}

/** Takes the leads of one walk to its end, which it returns, or to `--limit`; adds to `totals` as it goes. */
async function transfer(
  plan: ExportPlan,
  sink: Pick<Destination, 'write' | 'pageEnd'>,
  totals: Totals,
  { messages }: Pick<ExportContext, 'messages'>,
  progress: Progress,
  from?: Position,
): Promise<Completion | undefined> {
  const { options, window } = plan;
  const { limit } = options;
  if (limit !== undefined && totals.leads >= limit) return undefined;
  const walk = listLeads(plan.service, {
    query: plan.query,
    pageSize: options.pageSize,
    from,
    seen: plan.seen,
    // What the partial file has for an id may be none to a walk that finds records without one.
    attempt: totals.withoutId === 0 ? plan.attempt : undefined,
    before: window?.runBefore(plan.query),
    isKnownList: plan.bookmark !== undefined,
    goesBackToFront: totals.withoutId === 0,
    concurrency: options.concurrency,
    prefetch: limit === undefined,
    keepsInvalid: options.skipInvalid,
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages, options.bookmark !== undefined),
  });
  const totalsBefore = { ...totals };
  for await (const batch of walk) {
    let leads = batch.leads.filter((lead) => !isLeftOut(lead, totals, messages) && plan.passes(lead));
    if (limit !== undefined) leads = leads.slice(0, limit - totals.leads);
    await sink.write(leads);
    totals.leads += leads.length;
    if (window !== undefined) for (const lead of leads) window.remember(lead);
    addStatistics(walk, totalsBefore, totals);
    if (limit !== undefined && totals.leads >= limit) break;
    if (batch.next !== undefined || batch.last) await sink.pageEnd(batch.next);
    if (options.concurrency !== undefined && options.concurrency > 1) noteUselessConcurrency(batch, messages);
    progress.update(totals.leads, limit ?? walk.stats.total);
  }
  addStatistics(walk, totalsBefore, totals);
  noteFilters(plan.matcher, messages);
  noteMissingFields('--fields', plan.fields, messages);
  return walk.completion;
}

/** Of a record that is no JSON, which is said at once and again at the end. */
function isLeftOut(lead: RawLead, totals: Totals, messages: Pick<Messages, 'note'>): boolean {
  if (!(lead instanceof InvalidRecord)) return false;
  const { readableId, nth, offset } = lead;
  const place = `lead ${nth} of a page`;
  const name = readableId === undefined ? place : `${readableId} (${place})`;
  totals.leftOut.push(name);
  const why =
    offset === undefined ? 'it holds bytes that are not UTF-8' : `it is not valid JSON at byte ${offset}`;
  messages.note(`left-out-${lead.id ?? ''}`, `left out ${name}: ${why}`);
  return true;
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

/**
 * Polls until Ctrl-C, which is the ordinary end, or `--limit`. Every poll reaches back by the overlap; ids that were seen
 * before are not written again.
 */
async function pollUntilInterrupted(
  plan: ExportPlan,
  every: number,
  destination: Destination,
  totals: Totals,
  context: ExportContext,
  progress: Progress,
): Promise<void> {
  const { limit } = plan.options;
  const { clock, signal, messages } = context;
  const wait = { ms: every, why: 'the next poll', isExpected: true };
  const sink: Pick<Destination, 'write' | 'pageEnd'> = {
    write: (leads) => destination.write(leads),
    // A poll requests less than the first walk did, so its positions mean nothing to a resumed run.
    pageEnd: () => destination.pageEnd({ style: 'start' }),
  };
  const poll = async (): Promise<void> => {
    plan.seen.nextPass();
    plan.window?.beginWalk(clock.now());
    const query = { ...plan.query, since: latest(plan.query.since, plan.window?.pollSince) };
    const walk = (): ReturnType<typeof transfer> =>
      transfer({ ...plan, query, attempt: undefined }, sink, totals, context, progress);
    const polled = await completeWalk(walk, context);
    if (polled !== undefined) plan.window?.completeWalk(polled.end);
  };
  try {
    while (limit === undefined || totals.leads < limit) {
      await messages.waiting(wait, () => clock.sleep(every, signal));
      await outliveOutages(poll, { every, hasWorked: true }, context);
      await destination.walkEnd();
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
  }
}
