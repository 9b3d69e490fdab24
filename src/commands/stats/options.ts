import { oneOf, type ValueType } from '../../config/value-types.ts';
import { type Expectation, parseExpectations } from '../../stats/expectations.ts';
import { bucketUnits } from '../../stats/time-buckets.ts';
import {
  acceptIncompleteFlag,
  filterFlags,
  formatFlags,
  rejectFirst,
  type InboxFlags,
} from '../flags/shared-flags.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { limit } from '../flags/flag-values.ts';

/** One path or two: there is no matrix of more. */
const paths: ValueType<readonly string[]> = {
  parse: (typed) => {
    const named = typed.split(',').map((path) => path.trim());
    return named.length <= 2 && !named.includes('') ? named : undefined;
  },
  expected: 'a field such as category, or two such as category,metadata.source',
};

const expectations: ValueType<readonly Expectation[]> = {
  parse: (typed) => (typed === '' ? undefined : parseExpectations(typed)),
  expected: "a list such as 'gap<30m,duplicate<5%,p95<10s'",
};

const ownInbox = "the profile's own";

/** `place` is undefined for the inbox of `LEADS_INBOX` or of the profile. */
const inbox: ValueType<{ readonly place: string | undefined }> = {
  parse: (typed) => (typed === '' ? undefined : { place: typed === ownInbox ? undefined : typed }),
  expected: 'the file of an inbox, or postgres://HOST/DATABASE',
};

export const flags = {
  by: {
    value: 'path',
    type: paths,
    otherwise: 'status, category and source',
    help: 'count by this field; two as PATH,PATH make a matrix',
  },
  bucket: {
    value: 'unit',
    type: oneOf(bucketUnits),
    otherwise: 'hour up to two days, then day',
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
    type: inbox,
    bare: ownInbox,
    help: 'count what was received, by the time of receipt: delays, attempts, duplicates, gaps',
  },
  expect: {
    value: 'list',
    type: expectations,
    help: "exit 7 unless all of it holds, such as 'gap<30m,duplicate<5%,p95<10s'",
  },
  ...formatFlags(['table', 'json', 'csv']),
  ...acceptIncompleteFlag,
  ...filterFlags,
} satisfies Flags;

export type StatsOptions = OptionsOf<typeof flags>;

/** Whether what was received is counted, and not what the service lists. */
export const countsReceived = ({ inbox }: StatsOptions): boolean => inbox !== undefined;

/** As other commands have them, whose `--inbox` needs a value. */
export const inboxFlagsOf = ({ inbox }: StatsOptions): InboxFlags => ({ inbox: inbox?.place });

/** Throws a `UsageError` for flags that contradict each other, or that would be ignored. */
export function rejectContradictions(options: StatsOptions): void {
  const { expect = [], acceptIncomplete, status } = options;
  const receives = countsReceived(options);
  const receiving = expect.find(({ measure }) => measure !== 'total');
  rejectFirst(
    [
      !receives && receiving !== undefined,
      `--expect: '${receiving?.text ?? ''}' is about what was received: it needs --inbox`,
      'of leads that are pulled, only their total is known',
    ],
    [
      receives && status !== undefined,
      '--status is the service to judge: it does not go with --inbox',
      "a lead's own field is chosen by --where, such as --where status=new",
    ],
    [
      receives && acceptIncomplete,
      '--accept-incomplete is about leads that are pulled: it does not go with --inbox',
    ],
  );
}
