import { duration, interval, text } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { acceptIncompleteFlag } from '../flags/accept-incomplete-flag.ts';
import { filterFlags } from '../flags/filter-flags.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { formatFlags } from '../flags/format-flags.ts';
import { limit, writtenFile } from '../flags/flag-values.ts';
import { inboxFlags } from '../flags/inbox/inbox-flags.ts';
import {
  deliveryFlags,
  deliveryPartFlags,
  rejectRepairContradictions,
  repairFlags,
} from './repair/repair-flags.ts';

export const flags = {
  ...inboxFlags,
  received: {
    value: 'file',
    type: text,
    help: "compare with an application's own leads, one JSON object a line, instead of an inbox",
  },
  lateAfter: {
    value: 'duration',
    type: duration,
    default: '5m',
    help: 'from creation to receipt; what took longer is late',
  },
  settle: {
    value: 'duration',
    type: duration,
    default: '15m',
    help: 'younger leads are not counted: their delivery may be under way',
  },
  watch: {
    value: 'duration',
    type: interval,
    help: 'repeat after this time, one line each round, until Ctrl-C; repairs in each round',
  },
  ...acceptIncompleteFlag,
  ...filterFlags,
  since: { ...filterFlags.since, default: '7d' },
  ...repairFlags,
  ...inGroup('Output', {
    ...formatFlags(['table', 'json']),
    limit: { short: 'n', value: 'n', type: limit, default: '20', help: "findings in the table, or 'all'" },
    missing: { help: "print only the missing leads, in the service's own bytes" },
    junit: {
      value: 'file',
      type: writtenFile,
      help: 'write a JUnit file for a CI server, a test for each class',
    },
  }),
  ...deliveryFlags,
  ...deliveryPartFlags,
} satisfies Flags;

export type AuditCommandOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that contradict each other. */
export function rejectContradictions(options: AuditCommandOptions): void {
  const { missing, format, received, inbox, inboxUrlFile, watch } = options;
  rejectRepairContradictions(options);
  if (missing && format === 'json') {
    throw new UsageError('--missing and --json do not go together', {
      hint: '--missing prints leads, --json prints findings',
    });
  }
  if (watch !== undefined && missing) {
    throw new UsageError('--watch and --missing do not go together: each round would print the same leads');
  }
  if (watch !== undefined && inboxUrlFile === '-') {
    throw new UsageError('--watch opens the inbox in each round: stdin (-) can be read once only');
  }
  if (watch !== undefined && received === '-') {
    throw new UsageError('--watch reads the received leads in each round: stdin (-) can be read once only');
  }
  if (received !== undefined && (inbox ?? inboxUrlFile) !== undefined) {
    throw new UsageError('--received and --inbox do not go together: each is the received side');
  }
  if (inbox === ':memory:') {
    throw new UsageError('--inbox :memory: holds nothing that could be compared');
  }
}
