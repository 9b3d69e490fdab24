import { noteText } from '../../describe.ts';
import { isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import type { Context, Outcome } from '../../context.ts';
import { Audit } from '../../audit/audit.ts';
import { ConfigError, DataError, ServiceError, messageOf } from '../../errors.ts';
import { counted, grouped, type Progress, showProgress } from '../../output/terminal/progress.ts';
import { pointInTime } from '../flags/flag-values.ts';
import { leadPlaceOf } from '../flags/resolve-scheme.ts';
import { checkReportPlace } from '../flags/report-file.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { noteFilters, noteMissingFields } from '../../output/filter-notes.ts';
import {
  type AuditResult,
  horizonDoubt,
  printJson,
  printMissing,
  printRound,
  printTable,
  printVerdict,
  problemsIn,
  summarize,
  writeJunit,
  writeJunitOfFailure,
  doubtsOf,
} from './print.ts';
import type { AuditCommandOptions } from './options.ts';
import { type ComparedSides, openRepair, repairFindings, type RepairPlan } from './repair.ts';
import { unlistedClasses } from '../../audit/classify-lead.ts';
import { StatusField } from '../../audit/compare-payloads.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { statusFieldsOf } from '../../service/status-fields.ts';
import { requestParamsOf } from '../../service/pagers/request-params.ts';
import { formatSeconds } from '../../time/time-text.ts';
import type { OpenedReceived } from './received-file.ts';
import { rejectionsIn } from '../../audit/compare-leads.ts';
import { isInboxThere, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';

export async function run(options: AuditCommandOptions, context: Context): Promise<Outcome> {
  if (options.junit !== undefined) await checkReportPlace(options.junit, 'junit');
  const plan = await withJunitOfFailure(options, context, () => openRepair(options, context));
  const { watch } = options;
  return watch === undefined
    ? auditRound(options, plan, context)
    : watchAudits(watch, () => auditRound(options, plan, context), context);
}

/** Compares once, repairs where that is asked for, and reports. */
async function auditRound(
  options: AuditCommandOptions,
  plan: RepairPlan | undefined,
  context: Context,
): Promise<Outcome> {
  const { messages, clock } = context;
  const startedAt = clock.now();
  const opened = await withJunitOfFailure(options, context, () => openAudit(options, context));
  const { audit, received, filter, progress } = opened;
  try {
    const repaired = await withJunitOfFailure(options, context, async () => {
      await runToItsEnd(opened, context);
      progress.clear();
      noteFilters(audit.matcher, messages);
      noteMissingFields('--ignore', audit.ignored, messages);
      noteCounts(audit, received, messages);
      return repairFindings(opened, plan, context);
    });
    const summary = summarize(audit, filter, repaired.repaired.size);
    const result = { audit, summary, settled: repaired };
    const doubt = horizonDoubt(summary);
    const isOver = problemsIn(summary) - repaired.repaired.size - repaired.arrived.size <= 0;
    const report = reportedTo(isOver, options, context);
    try {
      if (report !== undefined) await print(result, options, report);
    } finally {
      if (options.junit !== undefined) {
        const times = { startedAt, ms: clock.now() - startedAt };
        await writeJunit(options.junit, result, { ...times, doubt });
      }
    }
    if (repaired.failure !== undefined) throwOrSay(repaired.failure.error, options, context);
    if (doubt !== undefined) throwOrSay(beyondHorizon(doubt, audit), options, context);
    const { missing, format, watch } = options;
    if (!missing && format === 'table' && watch === undefined && report !== undefined)
      await printVerdict(summary, isOver, report);
    return isOver && repaired.failure === undefined ? 'done' : 'problems';
  } finally {
    await opened.close();
  }
}

function print(
  { audit, summary, settled }: AuditResult,
  { missing, format, watch, limit }: AuditCommandOptions,
  context: Reported,
): Promise<void> {
  if (missing) return printMissing(audit, context);
  if (format === 'json') return printJson(audit, summary, context);
  if (watch !== undefined) return printRound(summary, context);
  return printTable({ audit, summary, settled }, limit, context);
}

type Reported = Pick<Context, 'stdout' | 'messages' | 'clock' | 'env' | 'globals'>;

/** Under `--quiet` a table is for cron's mail: nothing where all is well, else on stderr. */
function reportedTo(
  isOver: boolean,
  { missing, format }: AuditCommandOptions,
  context: Context,
): Reported | undefined {
  const { stderr, messages, clock, env, globals } = context;
  if (!globals.quiet || missing || format !== 'table') return context;
  return isOver ? undefined : { stdout: stderr, messages, clock, env, globals };
}

const beyondHorizon = (doubt: string, { listedSince }: Audit): DataError =>
  new DataError(doubt, {
    hint:
      listedSince === undefined
        ? "see with 'leads list --limit all' whether the service lists any lead"
        : `compare what it lists: leads audit --since ${listedSince}`,
  });

/** A receiver that is away may be back in the next round, and so may what the service does not list. */
function throwOrSay(error: unknown, { watch }: AuditCommandOptions, { messages }: Context): void {
  const mayHeal = error instanceof ServiceError || error instanceof DataError;
  if (watch === undefined || !mayHeal) throw error;
  messages.warn(messageOf(error));
}

/** Says what was compared in an audit that failed on the way: nothing is known about the other leads. */
async function runToItsEnd({ audit, progress }: OpenedAudit, { messages }: Context): Promise<void> {
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

/**
 * Repeats a round every so many milliseconds until Ctrl-C, which is its ordinary end. Before any round has come to an end,
 * nothing is known, and the interruption is thrown. A service that is away is waited for.
 */
async function watchAudits(every: number, round: () => Promise<Outcome>, context: Context): Promise<Outcome> {
  const { clock, signal, messages } = context;
  const wait = { ms: every, why: 'the next audit', isExpected: true };
  let ended = 0;
  let hasWorked = false;
  const step = async (): Promise<void> => {
    try {
      await round();
      hasWorked = true;
      ended += 1;
    } catch (error) {
      if (!signal.aborted) ended += 1;
      throw error;
    }
  };
  try {
    for (;;) {
      await outliveOutages(step, { every, hasWorked }, context);
      await messages.waiting(wait, () => clock.sleep(every, signal));
    }
  } catch (error) {
    if (!isCtrlC(signal) || ended === 0) throw error;
    return 'done';
  }
}

/** An audit that is ready to run. */
interface OpenedAudit extends ComparedSides {
  readonly audit: Audit;
  readonly received: OpenedReceived;
  /** With the times that the flags mean now. */
  readonly filter: LeadFilter;
  readonly progress: Progress;
  close(): Promise<void>;
}

async function openAudit(options: AuditCommandOptions, context: Context): Promise<OpenedAudit> {
  const { clock, messages, status } = context;
  const startedAt = clock.now();
  const service = await openService(context);
  const since = options.since ?? (options.in === undefined ? pointInTime.parse('7d') : undefined);
  const { query, filter } = resolveFilter({ ...options, since }, startedAt, messages);
  const received = await openReceived(options, context);
  const statusNames = statusFieldsOf(service.dialect);
  const showsOnlySome =
    narrowsByPath(service) ||
    query.status !== undefined ||
    filter.where.some(({ path }) => statusNames.includes(path.join('.')));
  const progress = showProgress(status, clock);
  const audit = new Audit({
    service,
    received,
    // A lead whose category was changed since is listed under another one: all are asked for, and filtered here.
    query: { ...query, categories: undefined },
    filter,
    // Only the service's list shows the status: what it does not list may be there under another one.
    undecidable: [...(showsOnlySome ? unlistedClasses : []), ...received.undecidable],
    times: {
      startedAt,
      // Leads that were created after the received ones were written down cannot be among them.
      settledBefore: Math.min(startedAt, received.writtenAt ?? startedAt) - options.settle,
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

/** Whether the path's own query filters the list: received leads cannot be judged by it. */
function narrowsByPath({ account, dialect }: Pick<Service, 'account' | 'dialect'>): boolean {
  const { url, status, category, since, until } = requestParamsOf(account.baseUrl, dialect);
  return [status, category, since, until].some((name) => name !== undefined && url.searchParams.has(name));
}

/** Says what the counts of a whole audit alone would hide. */
function noteCounts(audit: Audit, { name }: OpenedReceived, messages: Context['messages']): void {
  const { listed, counts, clockAheadMs, disprovenAheadMs } = audit;
  const { pulled, received, withoutId, horizon } = counts;
  const doubts = doubtsOf(audit);
  if (clockAheadMs !== 0) {
    const difference = `${formatSeconds(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? 'behind' : 'ahead of'}`;
    messages.note(
      'clock',
      `this machine's clock is ${difference} the service's, which decides here how old a lead is`,
    );
  }
  if (disprovenAheadMs !== 0) {
    messages.note(
      'clock',
      `the service's 'Date' is ${formatSeconds(-disprovenAheadMs)} behind this machine's clock and older than leads that it lists: this machine's clock decides here how old a lead is`,
    );
  }
  if (listed === 0) {
    messages.warn(doubts.list ?? '');
  } else if (pulled === 0 && withoutId === 0) {
    messages.note('none-pulled', 'no lead of the service matches');
  } else if (pulled > 0 && received === 0) {
    messages.note('none-received', `${name} has none of these leads`);
  }
  if (listed > 0 && horizon === undefined) {
    messages.note(
      'no-horizon',
      "no lead of the list says in 'createdAt' when it was created: whether others were received that it no longer shows cannot be told",
    );
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record of the service has', 'records of the service have');
    const help = pulled === 0 ? ': leads config set api.id FIELD names another field' : '';
    messages.warn(
      `${records} no usable id, so nothing can be said about ${withoutId === 1 ? 'it' : 'them'}${help}`,
    );
  }
  for (const doubt of [doubts.different, doubts.extra]) if (doubt !== undefined) messages.warn(doubt);
}

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
async function openReceived(options: AuditCommandOptions, context: Context): Promise<OpenedReceived> {
  if (options.received !== undefined) {
    const { openReceivedFile } = await import('./received-file.ts');
    return openReceivedFile(options.received, options.leadAt ?? 'auto', context);
  }
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  if (!isInboxThere(location)) {
    throw new ConfigError(
      `there is no inbox at ${locationText(location)}, so there is nothing to compare with`,
      {
        hint: "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
      },
    );
  }
  const { clock, messages } = context;
  const open = async (warn: StoreOptions['warn']) => {
    const store = options.takeIn ? await openInbox({ location, clock, warn }) : undefined;
    return { store, inbox: store ?? (await openInboxReader({ location, clock })) };
  };
  const { store, inbox } =
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
    close: () => inbox.close(),
  };
}

/**
 * Runs a step of an audit that ends before there is a report. Where the step throws, the file of `--junit` says so, except
 * that Ctrl-C at `--watch` leaves there what the last round wrote. Throws what the step throws, also where the file cannot be
 * written.
 */
async function withJunitOfFailure<T>(
  { junit, watch }: Pick<AuditCommandOptions, 'junit' | 'watch'>,
  { clock, signal, messages }: Pick<Context, 'clock' | 'signal' | 'messages'>,
  step: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  try {
    return await step();
  } catch (error) {
    const isEndOfWatch = watch !== undefined && signal.aborted;
    if (junit !== undefined && !isEndOfWatch) {
      const times = { startedAt, ms: clock.now() - startedAt };
      const warn = (problem: unknown): void => messages.warn(messageOf(problem));
      await writeJunitOfFailure(junit, error, times).catch(warn);
    }
    throw error;
  }
}
