import { InterruptedError } from '../../errors.ts';
import { outliveOutages } from '../../service/client/outlive-outages.ts';
import { isComplete } from '../flags/accept-incomplete-flag.ts';
import { type ExportPlan, type ExportContext, latest } from './plan.ts';
import type { Totals } from './transfer.ts';

interface PollSteps {
  walk(plan: ExportPlan): Promise<void>;
  /** After each complete poll. */
  pollEnd(): Promise<void>;
}

/** The first walk of a run that polls is repeated until the service is there; of another run it is one attempt. */
export async function firstWalk(
  { options: { follow } }: ExportPlan,
  context: ExportContext,
  walk: () => Promise<void>,
): Promise<void> {
  if (follow === undefined) await walk();
  else await outliveOutages(walk, { every: follow, hasWorked: false }, context);
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
  const { clock, signal, messages } = context;
  const wait = { ms: follow, why: 'the next poll', isExpected: true };
  const poll = async (): Promise<void> => {
    plan.seen.nextPass();
    plan.window?.beginWalk(clock.now());
    const query = { ...plan.query, since: latest(plan.query.since, plan.window?.pollSince) };
    if (await isComplete(() => steps.walk({ ...plan, query }), context)) plan.window?.completeWalk();
  };
  try {
    while (limit === undefined || totals.leads < limit) {
      await messages.waiting(wait, () => clock.sleep(follow, signal));
      await outliveOutages(poll, { every: follow, hasWorked: true }, context);
      await steps.pollEnd();
    }
  } catch (error) {
    const reason: unknown = signal.reason;
    if (!(signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT')) throw error;
  }
}
