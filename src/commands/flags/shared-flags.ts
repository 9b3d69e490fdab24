import { oneOf, text, timeZone } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { parseStretch } from '../../time/zone.ts';
import { condition, fieldList, pointInTime, stretch } from './flag-values.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';

export const timeFlags = (event: 'created' | 'received') =>
  ({
    since: { value: 'time', type: pointInTime, help: `${event} then or later: 2026-01-31, yesterday, 7d` },
    until: { value: 'time', type: pointInTime, help: `${event} before then` },
    in: {
      value: 'stretch',
      type: stretch,
      choicesShown: false,
      without: ['--since', '--until'],
      help: `${event} in 2026-10, 2026-W42, yesterday, last-month; also today, this- or last-week, -month, -year`,
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

/**
 * The query for the service and the filter that is applied here, both with times resolved against one `now` (ms). Throws a
 * `UsageError` for a window of time that ends before it begins.
 */
export function resolveFilter(
  options: FilterOptions,
  now: number,
  messages: Pick<Messages, 'note'>,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const { status, category: categories, where } = options;
  const { zone, since, until } = resolveWindow(options, now, messages);
  return {
    query: { status, categories, since, until },
    filter: { categories, since, until, where, now, zone },
  };
}

/**
 * The window of time of `--since`, `--until` and `--in`, in milliseconds since the epoch; undefined is no bound. Throws a
 * `UsageError` for a window that ends before it begins.
 */
export function resolveWindow(options: TimeOptions, now: number, messages: Pick<Messages, 'note'>) {
  const { in: stretch, zone = 'UTC' } = options;
  if (stretch !== undefined) return { ...stretch.at(now, zone), zone };
  const since = options.since?.at(now, zone);
  const until = options.until?.at(now, zone);
  if (since !== undefined && until !== undefined && since >= until) {
    const [start, end] = [since, until].map((time) => new Date(time).toISOString());
    throw new UsageError(`no lead can match: --since ${start ?? ''} is not before --until ${end ?? ''}`, {
      hint: 'since <= createdAt < until; a duration such as 7d means that long ago',
    });
  }
  noteUntil(options.until?.text ?? '', messages);
  return { since, until, zone };
}

/** A person who names a day or a month as the end often means that it is included. */
function noteUntil(typed: string, messages: Pick<Messages, 'note'>): void {
  const isDayOrMonth = /^\d{4}-\d\d(-\d\d)?$/.test(typed);
  const stretch = isDayOrMonth ? parseStretch(typed, 0, 'UTC') : undefined;
  if (stretch === undefined) return;
  const next = new Date(stretch.until).toISOString().slice(0, typed.length);
  messages.note('until', `--until ${typed} is before ${typed} begins; with all of it: --until ${next}`);
}
