import { Audit } from '../../audit/audit.ts';
import { unlistedClasses } from '../../audit/classify-lead.ts';
import type { ReceivedSide } from '../../audit/compare-leads.ts';
import { StatusField } from '../../audit/compare-payloads.ts';
import type { ComparedSides } from '../../audit/repair.ts';
import type { Context, Outcome } from '../../context.ts';
import { DataError, messageOf, noteText, ServiceError } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { possibleLeads, readLead } from '../../lead/read-leads.ts';
import { counted, grouped, type Progress, showProgress } from '../../output/terminal/progress.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { statusFieldsOf } from '../../service/pagers/names.ts';
import { requestParamsOf } from '../../service/pagers/request-params.ts';
import { formatDuration, isoTime } from '../../time/time-text.ts';
import { leadPlaceOf } from '../flags/delivery-flags.ts';
import { pointInTime } from '../flags/flag-values.ts';
import { isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/shared-flags.ts';
import { openOnceThere, rejectMissing, resolveInbox } from '../flags/resolve-inbox.ts';
import type { AuditCommandOptions } from './command.ts';
import { openRepair, repairFindings, type RepairPlan } from './repair.ts';
import {
  type AuditResult,
  horizonError,
  noteClock,
  noteCounts,
  printJson,
  printMissing,
  printRound,
  printTable,
  printVerdict,
  problemsIn,
  summarize,
  warnOfRoundedIds,
} from './report.ts';

export async function run(options: AuditCommandOptions, context: Context): Promise<Outcome> {
  const { watch } = options;
  const plan = await openRepair(options, context);
  const round = (): Promise<Outcome> => auditRound(options, plan, context);
  return watch === undefined ? round() : watchAudits(watch, round, context);
}

/** Compares, repairs and reports once. In a watch, an error that the next round may not meet is a warning. */
async function auditRound(
  options: AuditCommandOptions,
  plan: RepairPlan | undefined,
  context: Context,
): Promise<Outcome> {
  const { messages } = context;
  const opened = await openAudit(options, context);
  const { audit, filter, progress } = opened;
  try {
    await runAudit(opened, context);
    progress.clear();
    noteFilters(audit.matcher, messages);
    noteClock(audit.clock, messages);
    noteCounts(audit, messages);
    const roundedIds = await audit.countRoundedIds();
    warnOfRoundedIds(roundedIds, opened.received.name, messages);
    const { repaired, failure } = await repairFindings(opened, roundedIds > 0 ? undefined : plan, context);
    const summary = summarize(audit.counts, filter, repaired.size);
    // A lead that was repaired, or came meanwhile, is counted in the summary and is no problem any more.
    const isInOrder = problemsIn(summary) <= repaired.size;
    const result: AuditResult = { audit, summary, repaired, isInOrder };
    const error = failure ?? horizonError(summary, audit.listedSince) ?? fileAgeError(opened, options.settle);
    await report(result, error === undefined, options, context);
    if (error === undefined) return isInOrder ? 'done' : 'problems';
    const mayPassByNextRound = error instanceof ServiceError || error instanceof DataError;
    if (options.watch === undefined || !mayPassByNextRound) throw error as Error;
    messages.warn(messageOf(error));
    return 'problems';
  } finally {
    await opened.close();
  }
}

/** Undefined where the file of received leads was written so late that it shows all leads of the window, but for `settleMs`. */
function fileAgeError({ audit, received, filter }: OpenedAudit, settleMs: number): DataError | undefined {
  const { startedAt, writtenAt } = audit.clock.times;
  const { since = -Infinity, until = Infinity } = filter;
  const unjudged = audit.counts.byClass['after-file'] ?? 0;
  if (unjudged === 0 || Math.min(until, startedAt) - writtenAt <= settleMs) return undefined;
  const [from, to] = [filter.since, writtenAt].map(isoTime);
  const window = `, or compare what it can show: --since ${from ?? ''} --until ${to ?? ''}`;
  return new DataError(
    `${received.name} was written ${formatDuration(startedAt - writtenAt)} ago, too early to show whether ${counted(unjudged, 'lead was', 'leads were')} received`,
    { hint: `write it again just before the audit${since < writtenAt ? window : ''}` },
  );
}

/** Under `--quiet` a table is for cron's mail: nothing where nothing was lost, else on stderr, also of what was repaired. */
async function report(
  result: AuditResult,
  hasVerdict: boolean,
  { missing, format, watch, limit }: AuditCommandOptions,
  context: Context,
): Promise<void> {
  const { stderr, messages, clock, env, globals } = context;
  if (missing) return printMissing(result, context);
  if (format === 'json') return printJson(result, context);
  if (globals.quiet && result.isInOrder && result.repaired.size === 0) return;
  const printContext = globals.quiet ? { stdout: stderr, messages, clock, env, globals } : context;
  if (watch !== undefined) return printRound(result, printContext);
  await printTable(result, limit, printContext);
  if (hasVerdict) await printVerdict(result, printContext);
}

/** Runs the audit. Where it fails on the way, a note says how much was compared: nothing is known about the other leads. */
async function runAudit({ audit, progress }: OpenedAudit, { messages }: Context): Promise<void> {
  try {
    await audit.run();
  } catch (error) {
    progress.clear();
    const { pulled, matched } = audit.counts;
    const leads = counted(pulled, 'lead was', 'leads were');
    messages.note(
      'compared',
      `${leads} compared before that, ${grouped(matched)} of them received; whether others are missing is not known`,
    );
    throw error;
  }
}

/** Repeats a round until Ctrl-C, which is its ordinary end. A service that is away is waited for. */
async function watchAudits(
  everyMs: number,
  round: () => Promise<Outcome>,
  context: Context,
): Promise<Outcome> {
  const { clock, signal, messages } = context;
  const wait = { ms: everyMs, why: 'the next audit', isExpected: true };
  let hasWorked = false;
  const step = async (): Promise<void> => {
    await round();
    hasWorked = true;
  };
  try {
    for (;;) {
      await outliveOutages(step, { everyMs, hasWorked }, context);
      await messages.showWait(wait, () => clock.sleep(everyMs, signal));
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
    return 'done';
  }
}

interface OpenedAudit extends ComparedSides {
  readonly audit: Audit;
  readonly received: ReceivedSide;
  readonly filter: LeadFilter;
  readonly progress: Progress;
  close(): Promise<void>;
}

/** Opens the service and what was received, which is an inbox, or a file of an application. */
async function openAudit(options: AuditCommandOptions, context: Context): Promise<OpenedAudit> {
  const { clock, messages, status } = context;
  const startedAt = clock.now();
  const service = await openService(context);
  const usualSince = options.in === undefined ? pointInTime.parse('7d') : undefined;
  const filterOptions = { ...options, since: options.since ?? usualSince };
  const { query, filter } = resolveFilter(filterOptions, startedAt, messages);
  const received = await openReceived(options, context);
  const statusNames = statusFieldsOf(service.dialect);
  const filtersByStatus =
    query.status !== undefined || filter.where.some(({ path }) => statusNames.includes(path.join('.')));
  const progress = showProgress(status, clock);
  const audit = new Audit({
    service,
    received,
    // A lead whose category was changed since is listed under another one: all are asked for, and filtered here.
    query: { ...query, categories: undefined },
    filter,
    // Received leads have no status, nor can they be judged by the URL's own filters: whether they belong in the list is unknown.
    undecidable: [
      ...(filtersByStatus || urlFiltersList(service) ? unlistedClasses : []),
      ...received.undecidable,
    ],
    times: {
      startedAt,
      settledBefore: startedAt - options.settle,
      writtenAt: received.writtenAt ?? Infinity,
      lateAfterMs: options.lateAfter,
    },
    comparison: {
      statusField: new StatusField(statusNames),
      idNames: ['id', service.dialect.id ?? 'id', (await context.settings()).webhookId],
      ignored: options.ignore,
    },
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages),
    onProgress: (compared, total) => progress.update(compared, total),
  });
  return {
    audit,
    received,
    filter,
    progress,
    baseUrl: service.account.baseUrl,
    async close() {
      progress.clear();
      await audit.close();
      await received.close();
    },
  };
}

function urlFiltersList({ account, dialect }: Pick<Service, 'account' | 'dialect'>): boolean {
  const { url, status, category, since, until } = requestParamsOf(account.baseUrl, dialect);
  const filterParams = [status, category, since, until];
  return filterParams.some((name) => name !== undefined && url.searchParams.has(name));
}

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
async function openReceived(options: AuditCommandOptions, context: Context): Promise<ReceivedSide> {
  if (options.received !== undefined) {
    const { openReceivedFile } = await import('./received-file.ts');
    return openReceivedFile(options.received, options.leadAt ?? 'auto', context);
  }
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  rejectMissing(
    location,
    "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
  );
  const { clock, messages } = context;
  const open = async (warn: StoreOptions['warn']) => {
    const store = options.takeIn ? await openInbox({ location, clock, warn }) : undefined;
    const inbox = store ?? (await openInboxReader({ location, clock }));
    return { store, inbox, close: () => inbox.close() };
  };
  // Only a watch waits for a database that is started later.
  const { store, inbox, close } =
    options.watch === undefined
      ? await open((warning) => messages.warn(noteText(warning)))
      : await openOnceThere(location, open, context);
  return {
    name: `the inbox ${locationText(location)}`,
    leads: inbox,
    store,
    undecidable: [],
    hasTimes: true,
    rejections: () => rejectionsIn(inbox, leadPlaceOf(settings, options.leadAt)),
    close,
  };
}

type LeadPlace = ReturnType<typeof leadPlaceOf>;

/** Reasons of the rejected deliveries that the inbox keeps, by the ids of their leads; the newest reason counts. */
async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  place: LeadPlace,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsInBody(body, place) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}

/** The body may be a forgery. The inbox keeps only the start of a long one, which is no JSON and gives no id. */
function idsInBody(body: Uint8Array, { leadAt, idField }: LeadPlace): readonly string[] {
  return possibleLeads(body, leadAt, idField).flatMap((lead) => {
    const read = readLead(lead, idField);
    return read.ok ? (read.lead.id ?? []) : [];
  });
}
