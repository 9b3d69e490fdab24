import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { recordFormats } from '../../output/records.ts';
import { filterShape } from '../filter-options.ts';
import { duration, fieldList, flag, interval, oneOf, text, wholeNumber } from '../values.ts';

export const options = z.object({
  ...filterShape,
  format: oneOf(recordFormats),
  output: z.optional(text()),
  resume: flag(),
  gzip: flag(),
  fields: z.optional(fieldList()),
  max: z.optional(wholeNumber(1)),
  bookmark: z.optional(text()),
  overlap: z.optional(duration()),
  follow: z.optional(
    z.pipe(
      z.transform((given: unknown) => (given === true ? '30s' : given)),
      interval(),
    ),
  ),
  pageSize: z.optional(wholeNumber(1)),
  concurrency: z.optional(wholeNumber(1, 32)),
});

export type ExportOptions = z.output<typeof options>;

/** Flags that contradict each other; `terminal` is whether stdout is one. */
export function refuseContradictions(given: ExportOptions, terminal: boolean): void {
  const { output, bookmark, follow } = given;
  if (given.resume && output === undefined) {
    throw new UsageError('--resume needs -o FILE: only a file can be gone on with');
  }
  if (given.overlap !== undefined && bookmark === undefined && follow === undefined) {
    throw new UsageError('--overlap needs --bookmark or --follow');
  }
  if (given.max !== undefined && bookmark !== undefined) {
    throw new UsageError(
      '--max and --bookmark do not go together: what --max cuts off would never come again',
    );
  }
  if (follow !== undefined && given.until !== undefined) {
    throw new UsageError('--follow and --until do not go together');
  }
  if (follow !== undefined && given.format === 'csv' && given.fields === undefined && output === undefined) {
    throw new UsageError('--follow with --format csv needs --fields', {
      hint: 'the columns of leads that are still to come are not known',
    });
  }
  if (given.gzip && output === undefined && terminal) {
    throw new UsageError('--gzip writes no text for a terminal', { hint: 'redirect it, or use -o FILE' });
  }
  if (given.fields?.length === 0) throw new UsageError('--fields: no field is named');
}
