import {
  acceptIncompleteFlag,
  fieldsFlag,
  filterFlags,
  formatFlags,
  rejectFirst,
} from '../flags/shared-flags.ts';
import { text, type ValueType } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { fieldList, limit, pollInterval } from '../flags/flag-values.ts';

/** What the table's own headings stand for. */
const headings: Readonly<Record<string, string>> = {
  ID: 'id',
  CREATED: 'createdAt',
  CATEGORY: 'category',
  NAME: 'contact.name',
  EMAIL: 'contact.email',
  PHONE: 'contact.phone',
  SOURCE: 'metadata.source',
  STATUS: 'status',
};

const fieldsOrHeadings: ValueType<readonly string[]> = {
  ...fieldList,
  parse: (typed) => fieldList.parse(typed)?.map((field) => headings[field] ?? field),
};

export const args = {
  text: {
    type: text,
    optional: true,
    help: 'only leads that hold it anywhere, in any case, with accents or without',
  },
} satisfies Arguments;

export const flags = {
  limit: {
    short: 'n',
    value: 'n',
    type: limit,
    default: '20',
    help: "how many, counted after filtering, or 'all'",
  },
  fields: { ...fieldsFlag.fields, type: fieldsOrHeadings },
  watch: { value: 'duration', type: pollInterval, bare: '30s', help: 'print new leads as they come' },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...filterFlags,
} satisfies Flags;

export type ListOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that contradict each other. */
export function rejectContradictions(options: ListOptions): void {
  const { format, watch, until } = options;
  const isWatching = watch !== undefined;
  const { text: typed = '' } = options;
  const end = until === undefined ? '--in' : '--until';
  rejectFirst(
    [
      // As other tools name them; no person is called so.
      options.json && /^[\w.]+(,[\w.]+)+$/.test(typed),
      `'${typed}' looks like fields, and would be looked for as a text`,
      `fields are named by --fields: --json --fields ${typed}`,
    ],
    [
      isWatching && format === 'json',
      '--watch and --format json do not go together: the array would never end',
      'use --format ndjson',
    ],
    [isWatching && (until ?? options.in) !== undefined, `--watch and ${end} do not go together`],
  );
}
