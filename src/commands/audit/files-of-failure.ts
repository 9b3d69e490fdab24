import type { Context } from '../../context.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import { writeReport } from '../flags/report-file.ts';
import { failedAuditReport } from './audit-report.ts';
import type { AuditCommandOptions } from './options.ts';
import { writeJunitOfFailure } from './print.ts';

/**
 * Runs a step of an audit that ends before there is a report. Where the step throws, the files say so, except that Ctrl-C at
 * `--watch` leaves there what the last round wrote. Throws what the step throws, also where a file cannot be written.
 */
export async function withFilesOfFailure<T>(
  { junit, html, watch, zone = 'UTC' }: Pick<AuditCommandOptions, 'junit' | 'html' | 'watch' | 'zone'>,
  { clock, signal, messages }: Pick<Context, 'clock' | 'signal' | 'messages'>,
  step: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  try {
    return await step();
  } catch (error) {
    const isEndOfWatch = watch !== undefined && signal.aborted;
    const warn = (problem: unknown): void => messages.warn(sentenceOf(problem));
    if (junit !== undefined && !isEndOfWatch) {
      const times = { startedAt, ms: clock.now() - startedAt };
      await writeJunitOfFailure(junit, error, times).catch(warn);
    }
    if (html !== undefined && !isEndOfWatch) {
      const report = failedAuditReport(sentenceOf(error), clock.now(), zone);
      await writeReport(html, report, { messages }).catch(warn);
    }
    throw error;
  }
}
