import { acceptIncompleteFlag, fieldsFlag, filterFlags, formatFlags } from '../flags/shared-flags.ts';
import { text, type ValueType } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { fieldList, limit, pollInterval } from '../flags/flag-values.ts';

/** `--fields ID,NAME` takes the column heads of the table, which stand for these fields. */
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
  watch: {
    value: 'duration',
    type: pollInterval,
    bare: '30s',
    without: ['--until', '--in', '--format json'],
    help: 'print new leads as they come',
  },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...filterFlags,
} satisfies Flags;

export type ListOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;
