import { oneOf, type ValueType } from '../../config/value-types.ts';
import { type Expectation, parseExpectations } from '../../stats/expectations.ts';
import { bucketUnits } from '../../stats/time-series.ts';
import { command, members, serviceExits } from '../flags/command-spec.ts';
import { acceptIncompleteFlag, filterFlags, formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { fieldList } from '../flags/flag-values.ts';

const expectations: ValueType<readonly Expectation[]> = {
  parse: parseExpectations,
  expected: "a list such as 'gap<30m,duplicate<5%,p95<10s'",
};

/** Stands for the place in `--inbox` without a value. Help shows it as well. */
export const ownInbox = "the profile's own";

const flags = {
  by: {
    value: 'paths',
    type: fieldList,
    otherwise: 'status, category, source',
    help: 'count by these fields',
  },
  bucket: { value: 'unit', type: oneOf(bucketUnits), otherwise: 'by the span', help: 'weeks from Monday' },
  inbox: {
    value: 'place',
    type: inboxFlags.inbox.type,
    bare: ownInbox,
    without: ['--status', '--accept-incomplete'],
    help: 'count what was received, by the time of receipt: delays, attempts, duplicates, gaps',
  },
  expect: {
    value: 'list',
    type: expectations,
    help: "exit 7 unless all hold: 'gap<30m,duplicate<5%,p95<10s'",
  },
  ...formatFlags(['table', 'json']),
  ...acceptIncompleteFlag,
  ...filterFlags,
} satisfies Flags;

export type StatsOptions = OptionsOf<typeof flags>;

export default command({
  name: 'stats',
  summary: 'counts, bars and delays, and an alarm when they are off',
  description:
    'Count leads by their fields and by time.\nThose of the service by when they were created, or with --inbox ' +
    'those that were received, with delays, attempts, duplicates and the longest gap.\n' +
    'With --expect it is an alarm: exit 7, and what does not hold on stderr; under --quiet nothing else is printed.',
  flags,
  everyday: ['since', 'in', 'by', 'bucket', 'inbox', 'expect', 'json'],
  exits: { ...serviceExits, 7: 'what --expect says does not hold' },
  output: [
    {
      what: 'one document',
      fields: members('window total undated by bucket series'),
      sometimes: ['inbox', 'expect'],
    },
  ],
  examples: [
    'leads stats --since 7d',
    'leads stats --by category,metadata.source',
    "leads stats --inbox --since 1d --expect 'gap<30m,duplicate<5%,p95<10s' -q",
  ],
  load: () => import('./run.ts'),
});
