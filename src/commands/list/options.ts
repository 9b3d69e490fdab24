import {
  acceptIncompleteFlag,
  fieldsFlag,
  filterFlags,
  formatFlags,
  rejectFirst,
} from '../flags/shared-flags.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { limit, pollInterval } from '../flags/flag-values.ts';

export const flags = {
  limit: {
    short: 'n',
    value: 'n',
    type: limit,
    default: '20',
    help: "how many, counted after filtering, or 'all'",
  },
  ...fieldsFlag,
  relative: { help: 'times as "3m ago"' },
  watch: { value: 'duration', type: pollInterval, bare: '30s', help: 'print new leads as they come' },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...filterFlags,
} satisfies Flags;

export type ListOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that contradict each other. */
export function rejectContradictions(options: ListOptions): void {
  const { fields, relative, format, watch, until } = options;
  const isWatching = watch !== undefined;
  const end = until === undefined ? '--in' : '--until';
  rejectFirst(
    [relative && format !== 'table', '--relative is for the table form'],
    [
      isWatching && format === 'json',
      '--watch and --format json do not go together: the array would never end',
      'use --format ndjson',
    ],
    [
      isWatching && format === 'csv' && fields === undefined,
      '--watch with --format csv needs --fields',
      'the columns of leads that are still to come are not known',
    ],
    [isWatching && (until ?? options.in) !== undefined, `--watch and ${end} do not go together`],
  );
}
