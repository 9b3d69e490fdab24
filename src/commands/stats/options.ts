import { oneOf, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { type Expectation, parseExpectations } from '../../stats/expectations.ts';
import { bucketUnits } from '../../stats/time-series.ts';
import {
  acceptIncompleteFlag,
  filterFlags,
  formatFlags,
  inboxFlags,
  type InboxFlags,
} from '../flags/shared-flags.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { fieldList, limit } from '../flags/flag-values.ts';

const expectations: ValueType<readonly Expectation[]> = {
  parse: parseExpectations,
  expected: "a list such as 'gap<30m,duplicate<5%,p95<10s'",
};

const ownInbox = "the profile's own";

export const flags = {
  by: {
    value: 'paths',
    type: fieldList,
    otherwise: 'status, category, source',
    help: 'count by these fields',
  },
  bucket: {
    value: 'unit',
    type: oneOf(bucketUnits),
    otherwise: 'by the span',
    help: 'weeks from Monday',
  },
  top: {
    value: 'n',
    type: limit,
    otherwise: '10 in a table, else all',
    help: "so many values of a field, or 'all'; the rest is (other)",
  },
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

/** In the form of other commands, whose `--inbox` needs a value. */
export const inboxFlagsOf = ({ inbox }: StatsOptions): InboxFlags => ({
  inbox: inbox === ownInbox ? undefined : inbox,
});

/** Throws a `UsageError` for a measure of deliveries where leads are pulled. */
export function rejectUnmeasured({ expect = [], inbox }: StatsOptions): void {
  const expectation = expect.find(({ measure }) => measure !== 'total');
  if (inbox !== undefined || expectation === undefined) return;
  throw new UsageError(`--expect: '${expectation.text}' is about what was received: it needs --inbox`, {
    hint: 'of leads that are pulled, only their total is known',
  });
}
