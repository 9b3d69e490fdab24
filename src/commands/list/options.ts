import { UsageError } from '../../errors.ts';
import { acceptIncompleteFlag } from '../flags/accept-incomplete-flag.ts';
import { filterFlags, formatFlags } from '../flags/shared-flags.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { fieldList, limit, pollInterval } from '../flags/flag-values.ts';

export const flags = {
  limit: {
    short: 'n',
    value: 'n',
    type: limit,
    default: '20',
    help: "how many, counted after filtering, or 'all'",
  },
  fields: {
    value: 'list',
    type: fieldList,
    known: 'field-list',
    help: 'only these, such as id,contact.email',
  },
  relative: { help: 'times as "3m ago"' },
  watch: { value: 'duration', type: pollInterval, bare: '30s', help: 'print new leads as they come' },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...filterFlags,
} satisfies Flags;

export type ListOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that contradict each other. */
export function rejectContradictions({ fields, relative, format, watch, until }: ListOptions): void {
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
