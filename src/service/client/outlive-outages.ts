import { DataError, ServiceError } from '../../errors.ts';
import { formatDuration, formatSeconds } from '../../time/duration.ts';
import type { Service } from './service.ts';

interface Options {
  /** Between two attempts, in milliseconds. */
  readonly every: number;
  /** An answer that is not what it must be may heal as well, since there was a good one before. */
  readonly hasWorked: boolean;
}

/**
 * Repeats a step of a run that polls until the service is there again, and says when an outage begins and when it ends.
 * Passes on what does not heal by waiting: a rejected key, wrong usage, output that cannot be written, an interruption.
 */
export async function outliveOutages<T>(
  step: () => Promise<T>,
  { every, hasWorked }: Options,
  { clock, signal, messages }: Pick<Service, 'clock' | 'signal' | 'messages'>,
): Promise<T> {
  let awaySince: number | undefined;
  for (;;) {
    try {
      const result = await step();
      if (awaySince !== undefined) {
        messages.say(`the service answers again, after ${formatDuration(clock.now() - awaySince)}`);
      }
      return result;
    } catch (error) {
      const heals = error instanceof ServiceError || (hasWorked && error instanceof DataError);
      if (!heals || signal.aborted) throw error;
      if (awaySince === undefined)
        messages.say(`${error.message}; trying again every ${formatSeconds(every)}`);
      awaySince ??= clock.now();
      const wait = { ms: every, why: error.message, isExpected: true };
      await messages.waiting(wait, () => clock.sleep(every, signal));
    }
  }
}
