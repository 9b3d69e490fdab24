import { isCtrlC, outliveOutages } from '../flags/polling.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import type { Context } from '../../context.ts';
import type { Audit } from '../../audit/audit.ts';
import { DataError, ServiceError } from '../../errors.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { noteFilters, noteMissingFields } from '../flags/resolve-filter.ts';
import {
  type AuditSummary,
  horizonDoubt,
  printJson,
  printMissing,
  printRound,
  printTable,
  problemsIn,
  summarize,
  withJunitOfFailure,
  writeJunit,
} from './print.ts';
import { noteCounts, openAudit, type OpenedAudit } from './open-audit.ts';
import { type AuditCommandOptions, rejectContradictions } from './options.ts';
import { openRepair, type RepairedFindings, repairFindings, type RepairPlan } from './repair.ts';

export async function run(options: AuditCommandOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const plan = await withJunitOfFailure(options, context, () => openRepair(options, context));
  const { watch } = options;
  return watch === undefined
    ? auditRound(options, plan, context)
    : watchAudits(watch, () => auditRound(options, plan, context), context);
}

/** One comparison, its repair where that is asked for, and its report. */
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
    const doubt = horizonDoubt(summary);
    try {
      await print(opened, summary, repaired, options, context);
    } finally {
      if (options.junit !== undefined) {
        const times = { startedAt, ms: clock.now() - startedAt };
        await writeJunit(options.junit, audit, summary, repaired, { ...times, doubt });
      }
    }
    if (repaired.failure !== undefined) throwOrSay(repaired.failure.error, options, context);
    if (doubt !== undefined) throwOrSay(beyondHorizon(doubt, audit), options, context);
    const isOver = problemsIn(summary) - repaired.repaired.size - repaired.arrived.size <= 0;
    return isOver && repaired.failure === undefined ? 'done' : 'problems';
  } finally {
    await opened.close();
  }
}

function print(
  { audit }: OpenedAudit,
  summary: AuditSummary,
  { repaired, arrived }: RepairedFindings,
  { missing, format, watch, limit }: AuditCommandOptions,
  context: Context,
): Promise<void> {
  if (missing) return printMissing(audit, context);
  if (format === 'json') return printJson(audit, summary, context);
  if (watch !== undefined) return printRound(summary, context);
  return printTable(audit, summary, { most: limit, repaired, arrived }, context);
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
  messages.warn(sentenceOf(error));
}

/** Of an audit that failed on the way, says what was compared: nothing is known about the rest. */
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
