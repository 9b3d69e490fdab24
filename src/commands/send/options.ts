import { inputFile, interval, oneOf, text, wholeNumber } from '../../config/value-types.ts';
import { receiverUrl, trustFlags, schemeFlags } from '../flags/delivery-flags.ts';
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
import { header, memberPath, memberValue } from './send-values.ts';

export const args = {
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
    unset: {
      value: 'path',
      type: memberPath,
      repeatable: true,
      help: 'leave a field out',
    },
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
