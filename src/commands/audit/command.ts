import { allClasses, meanings } from '../../audit/classify-lead.ts';
import {
  duration,
  inputFile,
  interval,
  text,
  type ValueType,
  wholeNumber,
} from '../../config/value-types.ts';
import { command, members, serviceExits } from '../flags/command-spec.ts';
import { header, receiverUrl, trustFlags, schemeFlags } from '../flags/delivery-flags.ts';
import { acceptIncompleteFlag, filterFlags, formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import { type Flags, inGroup, needing, type OptionsOf } from '../flags/flag.ts';
import { limit, leadPointer } from '../flags/flag-values.ts';

const repairFlags = inGroup('Repair of refused and missing leads', {
  takeIn: {
    without: ['--received'],
    help: 'store them in the inbox, marked as backfilled; nothing is forwarded',
  },
  sendTo: {
    value: 'url',
    type: receiverUrl,
    help: 'deliver them to this receiver; with --take-in what it acknowledged is stored',
  },
  maxRepair: {
    value: 'n',
    type: wholeNumber(1),
    default: '1000',
    help: 'where there are more, nothing is repaired: something else is wrong then',
  },
}) satisfies Flags;

const deliveryFlags = needing('--send-to', {
  ...schemeFlags('How --send-to signs (one is needed)'),
  ...inGroup('How --send-to signs (one is needed)', {
    header: { value: 'header', type: header, repeatable: true, help: "one more, such as 'X-Source: test'" },
  }),
  ...trustFlags,
}) satisfies Flags;

const lastingInbox: ValueType<string> = {
  ...inboxFlags.inbox.type,
  parse: (typed) => (typed === '' || typed === ':memory:' ? undefined : typed),
  expected: 'a file or postgres://HOST/DATABASE that holds what was received',
};

export type RepairFlagOptions = OptionsOf<typeof repairFlags> & OptionsOf<typeof deliveryFlags>;

const flags = {
  inbox: { ...inboxFlags.inbox, type: lastingInbox },
  received: {
    value: 'file',
    type: inputFile,
    without: ['--inbox'],
    help: "an application's own leads instead of an inbox; JSON, lines, .gz, as of the file's date: later leads are not compared",
  },
  leadAt: {
    value: 'pointer',
    type: leadPointer,
    otherwise: 'auto',
    help: 'where leads are in each object of --received, or in the deliveries that listen rejected: /data',
  },
  ignore: {
    value: 'path',
    type: text,
    repeatable: true,
    help: 'do not compare this field, nor what is inside it: metadata.score',
  },
  lateAfter: {
    value: 'duration',
    type: duration,
    default: '5m',
    help: 'what took longer from creation to receipt is late',
  },
  settle: {
    value: 'duration',
    type: duration,
    default: '15m',
    help: 'younger leads are not counted; their delivery may be under way',
  },
  watch: {
    value: 'duration',
    type: interval,
    without: ['--missing', '--inbox @-', '--received -'],
    help: 'repeat after this time, until Ctrl-C; a line and repairs in each round',
  },
  ...acceptIncompleteFlag,
  ...filterFlags,
  since: { ...filterFlags.since, otherwise: '7d, without --in' },
  ...repairFlags,
  ...inGroup('Output', {
    ...formatFlags(['table', 'json']),
    limit: { short: 'n', value: 'n', type: limit, default: '20', help: "findings in the table, or 'all'" },
    missing: { without: ['--format json'], help: "print only the missing leads; in the service's own bytes" },
  }),
  ...deliveryFlags,
} satisfies Flags;

export type AuditCommandOptions = OptionsOf<typeof flags>;

export default command({
  name: 'audit',
  summary: 'is any lead missing?',
  description:
    'Compares what can be pulled with what was received: by id, and field by field where the bytes differ.\n' +
    'Exit 7 when a lead is not the same on both sides, unless it was repaired in this run.\nA list that may be incomplete, or that leaves out most of what was received, or a file of received leads that is too old, proves nothing: exit 5 or 6.',
  flags,
  everyday: [
    'since',
    'received',
    'inbox',
    'settle',
    'lateAfter',
    'missing',
    'takeIn',
    'sendTo',
    'token',
    'watch',
    'json',
  ],
  listing: {
    title: 'What it finds, of each lead the first that fits',
    rows: allClasses.map((name) => [name, meanings[name]]),
  },
  exits: { ...serviceExits, 7: 'a lead is not the same on both sides, and was not repaired' },
  output: [
    {
      what: 'one for each lead that is not the same on both sides',
      type: 'finding',
      fields: members('class id fields createdAt receivedAt reason'),
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('window horizon pulled received matched byClass withoutId repaired'),
    },
  ],
  examples: [
    'leads audit',
    'leads audit --since yesterday --missing > missing.ndjson',
    'leads audit --send-to https://localhost:8443/ --token secret',
  ],
  load: () => import('./run.ts'),
});
