import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { filterShape } from '../filter-options.ts';
import { fieldList, flag, interval, limit, oneOf } from '../values.ts';

export const options = z.object({
  ...filterShape,
  format: oneOf(['table', 'json', 'ndjson', 'csv']),
  limit: z.optional(limit()),
  fields: z.optional(fieldList()),
  relative: flag(),
  /** Milliseconds between two looks. */
  watch: z.optional(
    z.pipe(
      z.transform((given: unknown) => (given === true ? '30s' : given)),
      interval(),
    ),
  ),
});

export type ListOptions = z.output<typeof options>;

export function refuseContradictions({ fields, relative, format, watch, until }: ListOptions): void {
  if (fields?.length === 0) throw new UsageError('--fields: no field is named');
  if (relative && format !== 'table') throw new UsageError('--relative is for the table form');
  if (watch === undefined) return;
  if (format === 'json') {
    throw new UsageError('--watch and --format json do not go together: the array would never end', {
      hint: 'use --format ndjson',
    });
  }
  if (format === 'csv' && fields === undefined) {
    throw new UsageError('--watch with --format csv needs --fields', {
      hint: 'the columns of leads that are still to come are not known',
    });
  }
  if (until !== undefined) throw new UsageError('--watch and --until do not go together');
}
