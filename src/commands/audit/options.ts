import { duration, interval, text, wholeNumber } from '../../config/value-types.ts';
import { receiverUrl, trustFlags, schemeFlags } from '../flags/delivery-flags.ts';
import {
  acceptIncompleteFlag,
  filterFlags,
  formatFlags,
  rejectFirst,
  inboxFlags,
} from '../flags/shared-flags.ts';
import { type Flags, inGroup, longName, type OptionsOf } from '../flags/flag.ts';
import { limit, writtenFile, leadPointer } from '../flags/flag-values.ts';
import { flags as sendFlags } from '../send/options.ts';

const repairFlags = inGroup('Repair of refused and missing leads', {
  takeIn: { help: 'store them in the inbox, marked as backfilled; nothing is forwarded' },
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

/** How `--send-to` delivers. */
const deliveryFlags = {
  ...schemeFlags('How --send-to signs (one is needed)'),
  ...inGroup('How --send-to signs (one is needed)', { header: sendFlags.header }),
  ...trustFlags,
} satisfies Flags;

export type RepairFlagOptions = OptionsOf<typeof repairFlags> & OptionsOf<typeof deliveryFlags>;

export const flags = {
  ...inboxFlags,
  received: {
    value: 'file',
    type: text,
    help: "an application's own leads or ids instead of an inbox; JSON, lines, .gz",
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
    help: 'repeat after this time, until Ctrl-C; a line and repairs in each round',
  },
  ...acceptIncompleteFlag,
  ...filterFlags,
  since: { ...filterFlags.since, otherwise: '7d, without --in' },
  ...repairFlags,
  ...inGroup('Output', {
    ...formatFlags(['table', 'json']),
    limit: { short: 'n', value: 'n', type: limit, default: '20', help: "findings in the table, or 'all'" },
    missing: { help: "print only the missing leads; in the service's own bytes" },
    junit: {
      value: 'file',
      type: writtenFile,
      help: 'write a JUnit file for a CI server; a test for each class',
    },
  }),
  ...deliveryFlags,
} satisfies Flags;

export type AuditCommandOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that contradict each other, or that would be ignored. */
export function rejectContradictions(options: AuditCommandOptions): void {
  const { inbox, missing, received, secretFile, sendTo, takeIn, tokenFile } = options;
  const isWatching = options.watch !== undefined;
  const stray = Object.entries(deliveryFlags).find(([key]) =>
    isGiven(key, options[key as keyof RepairFlagOptions]),
  );
  rejectFirst(
    [
      takeIn && received !== undefined,
      '--take-in and --received do not go together',
      '--take-in stores leads in the inbox that is compared; --send-to URL delivers them to an application',
    ],
    [
      received === '-' && [...tokenFile, ...secretFile].includes('-'),
      'stdin (-) can give either the leads or a secret',
    ],
    [
      sendTo === undefined && stray !== undefined,
      `${stray === undefined ? '' : longName(...stray)} says how leads are delivered: it needs --send-to URL`,
    ],
    [
      missing && options.format === 'json',
      '--missing and --json do not go together',
      '--missing prints leads, --json prints findings',
    ],
    [
      isWatching && missing,
      '--watch and --missing do not go together: each round would print the same leads',
    ],
    [isWatching && inbox === '@-', '--watch opens the inbox in each round: stdin (-) can be read once only'],
    [
      isWatching && received === '-',
      '--watch reads the received leads in each round: stdin (-) can be read once only',
    ],
    [
      received !== undefined && inbox !== undefined,
      '--received and --inbox do not go together: each is the received side',
    ],
    [inbox === ':memory:', '--inbox :memory: holds nothing that could be compared'],
  );
}

/** `--no-verify` is the only flag that is true unless it is given. */
const isGiven = (key: string, value: unknown): boolean =>
  key === 'verify'
    ? value === false
    : Array.isArray(value)
      ? value.length > 0
      : value !== undefined && value !== false;
