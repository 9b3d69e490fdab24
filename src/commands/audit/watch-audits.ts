import type { Context } from '../../context.ts';
import { InterruptedError } from '../../errors.ts';
import { outliveOutages } from '../../service/client/outlive-outages.ts';
import type { Outcome } from '../flags/command-spec.ts';

/**
 * Repeats a round every so many milliseconds until Ctrl-C, which is its ordinary end. Before any round has come to an end,
 * nothing is known, and the interruption is thrown. A service that is away is waited for.
 */
export async function watchAudits(
  every: number,
  round: () => Promise<Outcome>,
  context: Context,
): Promise<Outcome> {
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
    const reason: unknown = signal.reason;
    const isEnd = signal.aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT';
    if (!isEnd || ended === 0) throw error;
    return 'done';
  }
}
