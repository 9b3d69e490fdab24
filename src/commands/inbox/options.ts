import { anyText, oneOf, text } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { httpUrl, limit, pointInTime } from '../flags/flag-values.ts';
import { formatFlags, timeFlags, inboxFlags } from '../flags/shared-flags.ts';

export const listArgs = {
  text: {
    type: text,
    optional: true,
    help: 'only what holds it anywhere, in any case, with accents or without',
  },
} satisfies Arguments;

export const listFlags = {
  verdict: {
    value: 'verdict',
    type: oneOf(['accepted', 'duplicate', 'waiting', 'dead', 'rejected', 'other']),
    repeatable: true,
    help: 'any of these; waiting: some target has not had the lead yet; dead: given up for some target',
  },
  ...timeFlags('received'),
  limit: { short: 'n', value: 'n', type: limit, default: '20', help: "how many, or 'all'" },
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...inboxFlags,
} satisfies Flags;

export type InboxListOptions = ArgumentsOf<typeof listArgs> & OptionsOf<typeof listFlags>;

export const showArgs = {
  id: {
    type: text,
    help: 'of the lead, or the number of a delivery in the list',
  },
} satisfies Arguments;

export const showFlags = {
  raw: { help: 'only the raw body, of the first delivery' },
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type InboxShowOptions = ArgumentsOf<typeof showArgs> & OptionsOf<typeof showFlags>;

export const exportFlags = {
  verdict: {
    value: 'verdict',
    type: oneOf(['accepted', 'waiting', 'dead']),
    default: 'accepted',
    help: 'accepted: every lead; waiting, dead: those that some target has not had',
  },
  ...timeFlags('received'),
  ...formatFlags(['ndjson', 'json', 'csv']),
  ...inboxFlags,
} satisfies Flags;

export type InboxExportOptions = OptionsOf<typeof exportFlags>;

export const retryArgs = {
  id: { type: text, optional: true, repeatable: true, help: 'of leads' },
} satisfies Arguments;

export const retryFlags = {
  pending: { help: 'every lead that waits for a target, or is dead for one' },
  to: { value: 'url', type: httpUrl, help: 'deliver there now, instead of by a running listen' },
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type InboxRetryOptions = ArgumentsOf<typeof retryArgs> & OptionsOf<typeof retryFlags>;

export const migrateFlags = {
  print: { help: 'print the SQL instead, and change nothing' },
  ...inboxFlags,
} satisfies Flags;

export type InboxMigrateOptions = OptionsOf<typeof migrateFlags>;

export const pruneFlags = {
  before: {
    value: 'time',
    type: pointInTime,
    help: 'received before then: 2026-01-31, or 30d for older than that',
  },
  ...inboxFlags,
} satisfies Flags;

export type InboxPruneOptions = OptionsOf<typeof pruneFlags>;

export const eraseFlags = {
  id: { value: 'id', type: anyText, help: 'the lead with this id' },
  email: { value: 'address', type: text, help: 'every lead with this e-mail address, in capitals or not' },
  phone: { value: 'number', type: text, help: 'every lead with this phone number, compared by its digits' },
  test: { help: 'every lead of leads send and leads check, known by its id, without asking' },
  dryRun: { help: 'only list what would be erased; changes nothing' },
  yes: { help: 'erase without asking; needed where nobody can be asked' },
  ...formatFlags(['table', 'json']),
  ...inboxFlags,
} satisfies Flags;

export type InboxEraseOptions = OptionsOf<typeof eraseFlags>;
