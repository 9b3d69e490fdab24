import { text } from '../../config/value-types.ts';
import { acceptIncompleteFlag, formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';

const args = { id: { type: text, help: 'of the lead' } } satisfies Arguments;

const flags = {
  ...acceptIncompleteFlag,
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type ShowOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;

export default command({
  name: 'show',
  summary: 'one lead with all its fields',
  description: 'Show one lead with all its fields: from the service, or else from the inbox.',
  arguments: args,
  flags,
  exits: { ...serviceExits, 7: 'there is no such lead' },
  output: [leadRecord],
  examples: ['leads show lead_01', 'leads show lead_01 --json'],
  load: () => import('./run.ts'),
});
