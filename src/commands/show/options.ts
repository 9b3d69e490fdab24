import { text } from '../../config/value-types.ts';
import { acceptIncompleteFlag, fieldsFlag, formatFlags } from '../flags/shared-flags.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { inboxFlags } from '../flags/inbox-flags.ts';

export const args = {
  id: { type: text, known: 'lead-ids', help: 'of the lead' },
} satisfies Arguments;

export const flags = {
  ...fieldsFlag,
  relative: { help: 'times as "3m ago"' },
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type ShowOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;
