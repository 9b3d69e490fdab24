import { oneOf, text, timeZone } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { condition, fieldList, pointInTime, stretch } from './flag-values.ts';

export const timeFlags = (event: 'created' | 'received') =>
  ({
    since: { value: 'time', type: pointInTime, help: `${event} then or later: 2026-01-31, yesterday, 7d` },
    until: { value: 'time', type: pointInTime, help: `${event} before then` },
    in: {
      value: 'stretch',
      type: stretch,
      without: ['--since', '--until'],
      help: `${event} in 2026-10, 2026-W42, yesterday, last-month`,
    },
    zone: {
      value: 'zone',
      type: timeZone,
      setting: 'zone',
      otherwise: 'UTC',
      help: 'in which times are read and shown, such as Europe/Madrid',
    },
  }) as const satisfies Flags;

export type TimeOptions = OptionsOf<ReturnType<typeof timeFlags>>;

export const filterFlags = inGroup('Filters', {
  status: { value: 'status', type: text, help: 'as the service judges it, such as new' },
  category: { value: 'name', type: text, repeatable: true, help: 'any of these' },
  ...timeFlags('created'),
  where: {
    value: 'condition',
    type: condition,
    repeatable: true,
    help: 'PATH=VALUE; also != < <= > >=, and ~ for contains',
  },
}) satisfies Flags;

export type FilterOptions = OptionsOf<typeof filterFlags>;

/** `--format`, and its short form `--json`, which means the first of `json` and `events` that the command has. */
export function formatFlags<const F extends string>(formats: readonly [F, ...F[]]) {
  const json: string = (formats as readonly string[]).includes('json') ? 'json' : 'events';
  return {
    format: { value: 'form', type: oneOf(formats), default: formats[0] as string },
    json: { help: `short for --format ${json}`, shortFor: ['format', json] },
  } as const;
}

export const inboxFlags = {
  inbox: {
    value: 'place',
    type: { ...text, stdin: '@-' },
    otherwise: "the profile's own",
    variable: 'LEADS_INBOX',
    help: 'a file or postgres://HOST/DATABASE; or @FILE that holds such a URL (@- for stdin)',
  },
} satisfies Flags;

export type InboxFlags = OptionsOf<typeof inboxFlags>;

export const acceptIncompleteFlag = {
  acceptIncomplete: { help: 'take what came, although the service does not show that it is everything' },
} satisfies Flags;

export const fieldsFlag = {
  fields: { value: 'list', type: fieldList, help: 'only these, such as id,contact.email' },
} satisfies Flags;
