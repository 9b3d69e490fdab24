import { InterruptedError } from '../../errors.ts';
import { type ExportPlan, type Wiring, latest } from './plan.ts';
import type { Totals } from './transfer.ts';

interface Steps {
  walk(job: ExportPlan): Promise<void>;
  /** A poll came to its end. */
  settled(): Promise<void>;
}

/**
 * Polls until Ctrl-C, which is the ordinary end, or `--max`. Every poll reaches back by the overlap; the ids that were
 * met before are not written again.
 */
export async function followOn(
  job: ExportPlan,
  context: Wiring,
  totals: Totals,
  steps: Steps,
): Promise<void> {
  const { follow = 0, max } = job.options;
  const { clock, signal } = context;
  try {
    while (max === undefined || totals.leads < max) {
      await clock.sleep(follow, signal);
      job.seen.nextPass();
      job.window?.begin(clock.now());
      await steps.walk({
        ...job,
        query: { ...job.query, since: latest(job.query.since, job.window?.pollSince) },
      });
      job.window?.settle();
      await steps.settled();
    }
  } catch (error) {
    const reason: unknown = signal.reason;
    if (!(signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT')) throw error;
  }
}
