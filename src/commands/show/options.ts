import { text } from '../../config/value-types.ts';
import { acceptIncompleteFlag } from '../flags/accept-incomplete-flag.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { formatFlags } from '../flags/shared-flags.ts';
import { inboxFlags } from '../flags/inbox-flags.ts';
import { fieldList } from '../flags/flag-values.ts';

export const args = {
  id: { type: text, known: 'lead-ids', help: 'of the lead' },
} satisfies Arguments;

export const flags = {
  fields: {
    value: 'list',
    type: fieldList,
    known: 'field-list',
    help: 'only these, such as id,contact.email',
  },
  relative: { help: 'times as "3m ago"' },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type ShowOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;
