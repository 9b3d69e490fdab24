import type { Context } from '../../../context.ts';
import { messageOf } from '../../../errors.ts';
import type { AuditCommandOptions } from '../options.ts';
import { writeJunitOfFailure } from './junit-report.ts';

/**
 * Runs a step of an audit that ends before there is a report. Where the step throws, the JUnit file says so, except that
 * Ctrl-C at `--watch` leaves there what the last round wrote. Throws what the step throws, also where the file cannot be
 * written.
 */
export async function withJunitOfFailure<T>(
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
      await writeJunitOfFailure(junit, error, times).catch((problem: unknown) =>
        messages.warn(messageOf(problem)),
      );
    }
    throw error;
  }
}
