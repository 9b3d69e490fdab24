import type { Context, Outcome } from '../../context.ts';
import { Audit } from '../../audit/audit.ts';
import { unlistedClasses } from '../../audit/classify-lead.ts';
import { rejectionsIn } from '../../audit/compare-leads.ts';
import { StatusField } from '../../audit/compare-payloads.ts';
import { ConfigError, DataError, messageOf, noteText, ServiceError } from '../../errors.ts';
import { isInboxThere, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, grouped, type Progress, showProgress } from '../../output/terminal/progress.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { requestParamsOf } from '../../service/pagers/request-params.ts';
import { statusFieldsOf } from '../../service/pagers/names.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { pointInTime } from '../flags/flag-values.ts';
import { isCtrlC, outliveOutages, unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { leadPlaceOf } from '../flags/resolve-scheme.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import type { AuditCommandOptions } from './command.ts';
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
} from './print.ts';
import type { OpenedReceived } from './received-file.ts';
import { type ComparedSides, openRepair, repairFindings, type RepairPlan } from './repair.ts';

export async function run(options: AuditCommandOptions, context: Context): Promise<Outcome> {
  const { watch } = options;
  const plan = await openRepair(options, context);
  const round = (): Promise<Outcome> => auditRound(options, plan, context);
  return watch === undefined ? round() : watchAudits(watch, round, context);
}

async function auditRound(
  options: AuditCommandOptions,
  plan: RepairPlan | undefined,
  context: Context,
): Promise<Outcome> {
  const { messages } = context;
  const opened = await openAudit(options, context);
  const { audit, filter, progress } = opened;
  try {
    await runToItsEnd(opened, context);
    progress.clear();
    noteFilters(audit.matcher, messages);
    noteClock(audit.clock, messages);
    noteCounts(audit, messages);
    const { repaired, failure } = await repairFindings(opened, plan, context);
    const summary = summarize(audit.counts, filter, repaired.size);
    // A lead that was repaired, or came meanwhile, is counted in the summary and is no problem any more.
    const isInOrder = problemsIn(summary) <= repaired.size;
    const result: AuditResult = { audit, summary, repaired, isInOrder };
    const doubt = horizonDoubt(summary);
    const error = failure ?? (doubt === undefined ? undefined : beyondHorizon(doubt, audit));
    await report(result, error === undefined, options, context);
    if (error === undefined) return isInOrder ? 'done' : 'problems';
    // A receiver that is away may be back in the next round, and so may what the service does not list.
    const mayHeal = error instanceof ServiceError || error instanceof DataError;
    if (options.watch === undefined || !mayHeal) throw error as Error;
    messages.warn(messageOf(error));
    return 'problems';
  } finally {
    await opened.close();
  }
}

/** Under `--quiet` a table is for cron's mail: nothing where all is well, else on stderr. */
async function report(
  result: AuditResult,
  hasVerdict: boolean,
  { missing, format, watch, limit }: AuditCommandOptions,
  context: Context,
): Promise<void> {
  const { stderr, messages, clock, env, globals } = context;
  if (missing) return printMissing(result, context);
  if (format === 'json') return printJson(result, context);
  if (globals.quiet && result.isInOrder) return;
  const printContext = globals.quiet ? { stdout: stderr, messages, clock, env, globals } : context;
  if (watch !== undefined) return printRound(result, printContext);
  await printTable(result, limit, printContext);
  if (hasVerdict) await printVerdict(result, printContext);
}

const beyondHorizon = (doubt: string, { listedSince }: Audit): DataError =>
  new DataError(doubt, {
    hint:
      listedSince === undefined
        ? "see with 'leads list --limit all' whether the service lists any lead"
        : `compare what it lists: leads audit --since ${listedSince}`,
  });

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

/** Repeats a round every so many milliseconds until Ctrl-C, which is its ordinary end. A service that is away is waited for. */
async function watchAudits(every: number, round: () => Promise<Outcome>, context: Context): Promise<Outcome> {
  const { clock, signal, messages } = context;
  const wait = { ms: every, why: 'the next audit', isExpected: true };
  let hasWorked = false;
  const step = async (): Promise<void> => {
    await round();
    hasWorked = true;
  };
  try {
    for (;;) {
      await outliveOutages(step, { every, hasWorked }, context);
      await messages.showWait(wait, () => clock.sleep(every, signal));
    }
  } catch (error) {
    if (!isCtrlC(signal)) throw error;
    return 'done';
  }
}

interface OpenedAudit extends ComparedSides {
  readonly audit: Audit;
  readonly received: OpenedReceived;
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

function noteClock({ times, disprovenBehindMs: serviceBehindMs }: Audit['clock'], messages: Messages): void {
  const { clockAheadMs: serviceAheadMs } = times;
  const decides = 'decides here how old a lead is';
  if (serviceAheadMs !== 0) {
    const side = serviceAheadMs > 0 ? 'behind' : 'ahead of';
    const difference = `${formatSeconds(Math.abs(serviceAheadMs))} ${side} the service's`;
    messages.note('clock', `this machine's clock is ${difference}, which ${decides}`);
  }
  if (serviceBehindMs > 0) {
    const behind = `${formatSeconds(serviceBehindMs)} behind this machine's clock, which ${decides}`;
    messages.note('clock', `the service's 'Date' is older than leads that it lists, and ${behind}`);
  }
}

function noteCounts({ counts, listedCount }: Audit, messages: Messages): void {
  const { pulled, withoutId, horizon, notCompared, notJudged } = counts;
  if (listedCount === 0) {
    messages.warn('the service lists no lead: whether one is missing, or too many, cannot be told');
  } else if (horizon === undefined) {
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
  if (notCompared > 0) {
    const leads = counted(notCompared, 'lead has', 'leads have');
    messages.warn(
      `${leads} other bytes than what was received, and could not be compared: the received body was pruned`,
    );
  }
  if (notJudged > 0) {
    const leads = counted(notJudged, 'received lead is', 'received leads are');
    messages.warn(
      `${leads} not in the list, and may be extra: the received body was pruned, so that no filter can choose among them`,
    );
  }
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
  // Only a watch waits for a database that is started later.
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
