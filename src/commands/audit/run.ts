import type { Context, Outcome } from '../../context.ts';
import { DataError, messageOf, ServiceError } from '../../errors.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { isCtrlC, outliveOutages } from '../flags/polling.ts';
import type { AuditCommandOptions } from './command.ts';
import { openAudit, type OpenedAudit } from './open-audit.ts';
import { type AuditResult, printJson, printMissing, printRound, printTable, printVerdict } from './print.ts';
import { openRepair, repairFindings, type RepairPlan } from './repair.ts';
import { horizonError, noteClock, noteCounts, problemsIn, summarize } from './summary.ts';

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
    const { repaired, failure } = await repairFindings(opened, plan, context);
    const summary = summarize(audit.counts, filter, repaired.size);
    // A lead that was repaired, or came meanwhile, is counted in the summary and is no problem any more.
    const isInOrder = problemsIn(summary) <= repaired.size;
    const result: AuditResult = { audit, summary, repaired, isInOrder };
    const error = failure ?? horizonError(summary, audit.listedSince);
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
