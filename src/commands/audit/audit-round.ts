import type { Context } from '../../context.ts';
import { ServiceError } from '../../errors.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { noteFilters } from '../flags/filter-notes.ts';
import { noteCounts } from './note-counts.ts';
import { openAudit, type OpenedAudit } from './open-audit.ts';
import type { AuditCommandOptions } from './options.ts';
import { printJson } from './print/json-report.ts';
import { withJunitOfFailure } from './print/junit-of-failure.ts';
import { writeJunit } from './print/junit-report.ts';
import { printMissing } from './print/missing-leads.ts';
import { printRound } from './print/round-line.ts';
import { printTable } from './print/table-report.ts';
import type { RepairPlan } from './repair/open-repair.ts';
import { repairFindings, type RepairedFindings } from './repair/repair-findings.ts';
import { type AuditSummary, problemsIn, summarize } from './summary.ts';

/** One comparison, its repair where that is asked for, and its report. */
export async function auditRound(
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
      noteCounts(audit, received, messages);
      return repairFindings(opened, plan, context);
    });
    const summary = summarize(audit.counts, filter, repaired.repaired.size);
    try {
      await print(opened, summary, repaired, options, context);
    } finally {
      if (options.junit !== undefined) {
        const times = { startedAt, ms: clock.now() - startedAt };
        await writeJunit(options.junit, audit, summary, repaired, times);
      }
    }
    if (repaired.failure !== undefined) throwOrSay(repaired.failure.error, options, context);
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

/** A receiver that is away may be back in the next round. */
function throwOrSay(error: unknown, { watch }: AuditCommandOptions, { messages }: Context): void {
  if (watch === undefined || !(error instanceof ServiceError)) throw error;
  messages.warn(error.message);
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
