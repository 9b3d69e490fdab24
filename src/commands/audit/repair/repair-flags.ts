import { wholeNumber } from '../../../config/value-types.ts';
import { UsageError } from '../../../errors.ts';
import { type Flags, inGroup, longName, type OptionsOf } from '../../flags/flag.ts';
import { schemePartFlags } from '../../flags/scheme/part-flags.ts';
import { schemeFlags } from '../../flags/scheme/scheme-flags.ts';
import { receiverUrl, trustFlags } from '../../flags/target/target-flags.ts';
import { flags as sendFlags } from '../../send/options.ts';

export const repairFlags = inGroup('Repair of refused and missing leads', {
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
export const deliveryFlags = {
  ...schemeFlags('How --send-to signs (one is needed)'),
  ...inGroup('How --send-to signs (one is needed)', { header: sendFlags.header }),
  ...trustFlags,
} satisfies Flags;

/** Few services need them. */
export const deliveryPartFlags = schemePartFlags;

export type RepairFlagOptions = OptionsOf<typeof repairFlags> &
  OptionsOf<typeof deliveryFlags> &
  OptionsOf<typeof deliveryPartFlags>;

interface ReceivedOptions {
  readonly received: string | undefined;
}

/** Throws a `UsageError` for flags of a repair that contradict each other, or that would be ignored. */
export function rejectRepairContradictions(options: RepairFlagOptions & ReceivedOptions): void {
  const { takeIn, sendTo, received, tokenFile, secretFile } = options;
  if (takeIn && received !== undefined) {
    throw new UsageError('--take-in and --received do not go together', {
      hint: '--take-in stores leads in the inbox that is compared; --send-to URL delivers them to an application',
    });
  }
  if (received === '-' && [...tokenFile, ...secretFile].includes('-')) {
    throw new UsageError('stdin (-) can give either the leads or a secret');
  }
  if (sendTo !== undefined) return;
  const stray = Object.entries({ ...deliveryFlags, ...deliveryPartFlags }).find(([key]) =>
    isGiven(key, options[key as keyof RepairFlagOptions]),
  );
  if (stray !== undefined) {
    throw new UsageError(`${longName(...stray)} says how leads are delivered: it needs --send-to URL`);
  }
}

/** `--no-verify` is the only flag that is true unless it is given. */
const isGiven = (key: string, value: unknown): boolean =>
  key === 'verify'
    ? value === false
    : Array.isArray(value)
      ? value.length > 0
      : value !== undefined && value !== false;
