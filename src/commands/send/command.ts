import { inputFile, interval, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { jsonIn } from '../../json/exact.ts';
import type { MemberChange } from '../../json/members.ts';
import { header, receiverUrl, trustFlags, schemeFlags } from '../flags/delivery-flags.ts';
import { acceptIncompleteFlag, filterFlags, formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import {
  type Arguments,
  type ArgumentsOf,
  type Flags,
  inGroup,
  needing,
  type OptionsOf,
} from '../flags/flag.ts';
import { requestRate, retrySchedule } from '../flags/flag-values.ts';
import { command, members, serviceExits } from '../flags/command-spec.ts';

/** `--set PATH=VALUE`: a JSON literal if the value is one, else a string. */
const memberValue: ValueType<MemberChange> = {
  parse: (typed) => {
    const [pathText = '', ...valueParts] = typed.split('=');
    const path = pathOf(pathText);
    const hasValue = valueParts.length > 0;
    return path && hasValue ? { path, value: literalOf(valueParts.join('=')) } : undefined;
  },
  expected: 'PATH=VALUE such as contact.email=ann@example.com or score=0.5',
};

const memberPath: ValueType<MemberChange> = {
  parse: (typed) => {
    const path = pathOf(typed);
    return path && { path, value: undefined };
  },
  expected: 'a path such as contact.phone',
};

function pathOf(typed: string): string[] | undefined {
  const path = typed.trim().split('.');
  return path.includes('') ? undefined : path;
}

const literalOf = (text: string): string => (jsonIn(text) === undefined ? JSON.stringify(text) : text.trim());

const args = {
  url: { type: receiverUrl, help: 'of the receiver' },
} satisfies Arguments;

export const flags = {
  ...inGroup('What is sent', {
    sample: {
      value: 'n',
      type: wholeNumber(1),
      without: ['--lead', '--id', '--from'],
      otherwise: '1',
      help: 'generated leads',
    },
    seed: {
      value: 'seed',
      type: text,
      without: ['--lead', '--id', '--from'],
      otherwise: 'new leads each time',
      help: 'same seed, same samples',
    },
    lead: {
      value: 'file',
      type: inputFile,
      without: ['--id', '--from'],
      help: 'leads of a file in their own bytes: JSON, or one a line (- for stdin)',
    },
    id: {
      value: 'id',
      type: text,
      repeatable: true,
      without: ['--from'],
      help: 'this lead, from the service or else the inbox',
    },
    from: {
      value: 'place',
      type: oneOf(['inbox', 'service']),
      help: 'every lead there that the filters let through',
    },
    set: {
      value: 'path=value',
      type: memberValue,
      repeatable: true,
      help: 'change a field; the value is JSON, or a text',
    },
    unset: { value: 'path', type: memberPath, repeatable: true, help: 'leave a field out' },
    newId: { help: 'give each lead a new id' },
    repeat: { value: 'n', type: wholeNumber(1), default: '1', help: 'deliver each lead n times' },
  }),
  ...schemeFlags('How it is signed (one is needed)'),
  ...inGroup('How it is sent', {
    concurrency: {
      value: 'n',
      type: wholeNumber(1, 10_000),
      otherwise: '10; with --rate what the system allows',
      help: 'requests in flight',
    },
    rate: {
      value: 'n/duration',
      type: requestRate,
      with: ['--for | --count | --repeat | --sample | --lead | --id | --from'],
      without: ['--dry-run'],
      help: 'start deliveries at this pace, such as 50/s, even if the receiver is slower; with --for or --count',
    },
    for: { value: 'duration', type: interval, help: 'start no delivery after this time' },
    count: { value: 'n', type: wholeNumber(1), help: 'end after n deliveries' },
    retry: {
      value: 'durations',
      type: retrySchedule,
      otherwise: 'none',
      help: 'waits before retries, such as 1s,5s,30s',
    },
    header: { value: 'header', type: header, repeatable: true, help: "one more, such as 'X-Source: test'" },
    yes: { help: 'send generated leads to another machine' },
  }),
  ...trustFlags,
  ...inGroup('What is printed', {
    ...formatFlags(['pretty', 'json']),
    dryRun: {
      value: 'form',
      type: oneOf(['curl', 'http']),
      bare: 'curl',
      joined: true,
      help: 'print the signed request, and send nothing',
    },
  }),
  ...needing('--from', filterFlags),
  status: { ...filterFlags.status, with: ['--from service'] },
  zone: filterFlags.zone,
  ...inGroup('Where leads come from', { ...inboxFlags, ...acceptIncompleteFlag }),
} satisfies Flags;

export type SendOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;

export default command({
  name: 'send',
  summary: 'deliver leads to a receiver as the service would',
  description:
    'Deliver leads to a receiver as the service would: signed, one POST a lead, each acknowledged by 200 or not.\n' +
    'Without more it sends one generated lead.',
  arguments: args,
  flags,
  everyday: ['sample', 'id', 'token', 'scheme', 'secret', 'dryRun', 'json'],
  exits: { ...serviceExits, 7: 'a delivery was not acknowledged' },
  output: [
    {
      what: 'one for each attempt',
      type: 'attempt',
      fields: members('id attempt status latencyMs answer'),
      sometimes: ['error', 'retryInMs'],
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members(
        'openLoop deliveries attempts acknowledged failed byStatus latencyMs achievedRate late',
      ),
    },
  ],
  examples: [
    'leads send https://localhost:8443/ --token secret',
    'leads send https://localhost:8443/ --token secret --rate 50/s --for 10s',
    'leads send https://localhost:8443/ --token secret --dry-run',
  ],
  load: () => import('./run.ts'),
});
