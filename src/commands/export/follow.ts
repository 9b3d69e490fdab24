import { InterruptedError } from '../../errors.ts';
import { isComplete } from '../flags/accept-incomplete-flag.ts';
import { type ExportPlan, type ExportContext, latest } from './plan.ts';
import type { Totals } from './transfer.ts';

interface PollSteps {
  walk(plan: ExportPlan): Promise<void>;
  /** After each complete poll. */
  pollEnd(): Promise<void>;
}

/**
 * Polls until Ctrl-C, which is the ordinary end, or `--limit`. Every poll reaches back by the overlap; ids that were seen
 * before are not written again.
 */
export async function pollUntilInterrupted(
  plan: ExportPlan,
  context: ExportContext,
  totals: Totals,
  steps: PollSteps,
): Promise<void> {
  const { follow = 0, limit } = plan.options;
  const { clock, signal } = context;
  try {
    while (limit === undefined || totals.leads < limit) {
      await clock.sleep(follow, signal);
      plan.seen.nextPass();
      plan.window?.beginWalk(clock.now());
      const query = { ...plan.query, since: latest(plan.query.since, plan.window?.pollSince) };
      if (await isComplete(() => steps.walk({ ...plan, query }), context)) plan.window?.completeWalk();
      await steps.pollEnd();
    }
  } catch (error) {
    const reason: unknown = signal.reason;
    if (!(signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT')) throw error;
  }
}
