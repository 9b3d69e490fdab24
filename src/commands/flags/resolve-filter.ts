import { UsageError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { parseStretch } from '../../time/zone.ts';
import type { FilterOptions, TimeOptions } from './shared-flags.ts';

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
