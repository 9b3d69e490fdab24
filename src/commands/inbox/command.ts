import { anyText, oneOf, text } from '../../config/value-types.ts';
import { command, commandGroup, leadRecord, members } from '../flags/command-spec.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { httpUrl, limit, pointInTime } from '../flags/flag-values.ts';
import { formatFlags, timeFlags, inboxFlags } from '../flags/shared-flags.ts';

const listFlags = {
  verdict: {
    value: 'verdict',
    type: oneOf(['accepted', 'duplicate', 'waiting', 'dead', 'rejected', 'other']),
    aliases: ['--status'],
    repeatable: true,
    help: 'any of these; waiting: some target has not had the lead yet; dead: given up for some target',
  },
  ...timeFlags('received'),
  limit: { short: 'n', value: 'n', type: limit, default: '20', help: "how many, or 'all'" },
  ...formatFlags(['table', 'json', 'ndjson', 'csv']),
  ...inboxFlags,
} satisfies Flags;

export type InboxListOptions = OptionsOf<typeof listFlags>;

const showArgs = {
  id: { type: text, help: 'of the lead, or the number of a delivery in the list' },
} satisfies Arguments;

const showFlags = {
  raw: { help: 'only the raw body, of the first delivery' },
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type InboxShowOptions = ArgumentsOf<typeof showArgs> & OptionsOf<typeof showFlags>;

const exportFlags = {
  verdict: {
    value: 'verdict',
    type: oneOf(['accepted', 'waiting', 'dead']),
    aliases: ['--status'],
    default: 'accepted',
    help: 'accepted: every lead; waiting, dead: those that some target has not had',
  },
  ...timeFlags('received'),
  ...formatFlags(['ndjson', 'json', 'csv']),
  ...inboxFlags,
} satisfies Flags;

export type InboxExportOptions = OptionsOf<typeof exportFlags>;

const retryArgs = {
  id: { type: text, optional: true, repeatable: true, help: 'of leads' },
} satisfies Arguments;

const retryFlags = {
  pending: { help: 'every lead that waits for a target, or is dead for one' },
  to: { value: 'url', type: httpUrl, help: 'deliver there now, instead of by a running listen' },
  ...formatFlags(['table', 'json', 'ndjson']),
  ...inboxFlags,
} satisfies Flags;

export type InboxRetryOptions = ArgumentsOf<typeof retryArgs> & OptionsOf<typeof retryFlags>;

const migrateFlags = {
  print: { help: 'print the SQL instead, and change nothing' },
  ...inboxFlags,
} satisfies Flags;

export type InboxMigrateOptions = OptionsOf<typeof migrateFlags>;

const pruneFlags = {
  before: {
    value: 'time',
    type: pointInTime,
    help: 'received before then: 2026-01-31, or 30d for older than that',
  },
  ...inboxFlags,
} satisfies Flags;

export type InboxPruneOptions = OptionsOf<typeof pruneFlags>;

const eraseFlags = {
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

export const summaryFields = members(
  'number receivedAt verdict reason detail status leadId attempt source remote method path bytes differs',
);

export default commandGroup({
  name: 'inbox',
  summary: 'what was received, with verdicts: show, deliver again, save, drop, erase',
  examples: ['leads inbox list', 'leads inbox show lead_123', 'leads inbox export > leads.ndjson'],
  subcommands: [
    command({
      name: 'list',
      summary: 'deliveries with their verdicts, newest first',
      flags: listFlags,
      everyday: ['verdict', 'since', 'limit', 'json', 'inbox'],
      exits: { 6: '' },
      output: [{ what: 'one for each delivery', fields: summaryFields }],
      examples: ['leads inbox list', 'leads inbox list --verdict rejected --since 1h --json'],
      load: async () => ({ run: (await import('./read-inbox.ts')).listDeliveries }),
    }),
    command({
      name: 'show',
      summary: 'every delivery of one lead, or one delivery, with headers and body',
      arguments: showArgs,
      flags: showFlags,
      everyday: ['raw', 'json', 'inbox'],
      exits: { 6: '', 7: 'there is no such delivery' },
      output: [
        {
          what: 'one for each delivery',
          fields: [...summaryFields, 'forwards', 'results', 'headers'],
          sometimes: ['lead', 'body', 'bodyBase64'],
        },
      ],
      examples: ['leads inbox show lead_123', 'leads inbox show 17 --raw > body.json'],
      load: async () => ({ run: (await import('./read-inbox.ts')).showDeliveries }),
    }),
    command({
      name: 'export',
      summary: "accepted leads in the webhook's own bytes",
      flags: exportFlags,
      everyday: ['verdict', 'since', 'format', 'inbox'],
      exits: { 6: '' },
      output: [leadRecord],
      examples: ['leads inbox export > leads.ndjson', 'leads inbox export --since today --format csv'],
      load: async () => ({ run: (await import('./read-inbox.ts')).exportLeads }),
    }),
    command({
      name: 'retry',
      summary: 'deliver again what is stored, as it came',
      description:
        'Delivers stored leads again, byte for byte; credentials are left out of the headers, since none are stored. ' +
        'Nor are addresses stored: --to names one each time.\n' +
        'Without --to, leads that wait, or are dead, are due now: a running listen that has their targets sends them. ' +
        'With --pending --to that is the address which the app has now: a lead that it takes does not wait any more for ' +
        'the one that it had. Leads that wait for several forwards stay. ' +
        'With ids and --to, leads are delivered to an address as a copy.',
      arguments: retryArgs,
      flags: retryFlags,
      everyday: ['pending', 'to', 'json'],
      exits: { 6: '', 7: 'a lead was not taken, or still waits' },
      output: [{ what: 'one for each lead', fields: members('leadId ok answer durationMs at insteadOf') }],
      examples: [
        'leads inbox retry --pending',
        'leads inbox retry --pending --to http://localhost:3000/webhook',
        'leads inbox retry lead_123 --to http://localhost:3000/webhook',
      ],
      load: () => import('./retry.ts'),
    }),
    command({
      name: 'migrate',
      summary: 'make the schema of an inbox in PostgreSQL',
      description:
        'Makes the schema that the URL names. With a role that may not do that, --print gives the SQL for one that may.',
      flags: migrateFlags,
      examples: [
        'leads inbox migrate --inbox postgres://owner@localhost/leads',
        'leads inbox migrate --print --inbox postgres://localhost/leads > migrate.sql',
      ],
      load: async () => ({ run: (await import('./maintenance.ts')).migrateInbox }),
    }),
    command({
      name: 'prune',
      summary: 'drop old deliveries; their ids stay known',
      flags: pruneFlags,
      exits: { 6: '' },
      examples: ['leads inbox prune --before 30d'],
      load: async () => ({ run: (await import('./maintenance.ts')).pruneInbox }),
    }),
    command({
      name: 'erase',
      summary: "erase a person's data; the ids stay known as digests",
      description:
        'Erases every delivery of the leads: bodies, headers, results, repeats, and rejected deliveries in which the id, ' +
        'address or number is readable.\nWhat waits for a target is cancelled. Of a delivery with several leads ' +
        'the others stay, as an array of their own bytes. A keyed digest of each id stays, its key in the inbox: the ' +
        'same id is a duplicate for ever, of which nothing is stored or forwarded.\n' +
        'An address or a number is looked for in the contact of each lead; where it only stands elsewhere in a lead, ' +
        'that is said, and --id erases it.\n' +
        '--test erases the leads that leads send and leads check have made, and their rejected deliveries.\n' +
        'A receiver may run meanwhile. A file is written anew, so that deliveries wait; where that takes more than five ' +
        'seconds they are answered 503, and the sender tries again.\n' +
        'Exit 8: it is erased, but a copy in the files of the inbox could not be overwritten.',
      flags: eraseFlags,
      everyday: ['email', 'phone', 'id', 'dryRun', 'yes'],
      exits: { 6: '', 7: 'nothing of that person was found' },
      output: [
        {
          what: 'one document',
          fields: members('dryRun leads rejected mentionedIn erasedBefore erased remains outOfReach'),
        },
      ],
      examples: [
        'leads inbox erase --email ada@example.com --dry-run',
        'leads inbox erase --id lead_123 --yes',
        'leads inbox erase --test',
      ],
      load: () => import('./erase.ts'),
    }),
  ],
});
