import { acceptIncompleteFlag, fieldsFlag, filterFlags, formatFlags } from '../flags/shared-flags.ts';
import { pollInterval, text } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { limit } from '../flags/flag-values.ts';
import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';

const args = {
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
  ...fieldsFlag,
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

export default command({
  name: 'list',
  summary: 'the newest leads, as a table, JSON, NDJSON or CSV',
  description: 'Show leads in the order of the service, which as a rule is newest first.',
  arguments: args,
  flags,
  everyday: ['limit', 'status', 'category', 'since', 'in', 'where', 'fields', 'format'],
  exits: serviceExits,
  output: [leadRecord],
  examples: [
    'leads list --status new',
    'leads list anna',
    'leads list --since 7d --where metadata.source=facebook --limit all',
    'leads list --fields id,contact.email --format csv',
  ],
  load: () => import('./run.ts'),
});
