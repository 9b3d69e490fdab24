import { UsageError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { parseStretch } from '../../time/zone.ts';
import type { TypedCondition } from './flag-values.ts';
import type { FilterOptions, TimeOptions } from './shared-flags.ts';

/**
 * What is asked of the service and what is checked here, both with times resolved against one `now` (ms). Says what is
 * odd about the filters as they were typed. Throws a `UsageError` for a window of time that ends before it begins.
 */
export function resolveFilter(
  options: FilterOptions,
  now: number,
  messages: Pick<Messages, 'note'>,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const { zone, since, until } = resolveWindow(options, now, messages);
  for (const typed of options.where) noteTyping(typed, messages);
  const where = options.where.map(({ condition }) => condition);
  return {
    query: { status: options.status, categories: options.category, since, until },
    filter: { categories: options.category, since, until, where, now, zone },
  };
}

/**
 * A window in milliseconds since the epoch, undefined: without a bound. Throws a `UsageError` for one that ends before it
 * begins.
 */
export function resolveWindow(options: TimeOptions, now: number, messages: Pick<Messages, 'note'>) {
  const { in: stretch, zone = 'UTC' } = options;
  if (stretch !== undefined) return { ...stretch.at(now, zone), zone };
  const since = options.since?.at(now, zone);
  const until = options.until?.at(now, zone);
  checkWindow(since, until, messages);
  if (since !== until) noteUntil(options.until?.text ?? '', messages);
  return { since, until, zone };
}

/** A day or a month is often meant to be in it. */
function noteUntil(typed: string, messages: Pick<Messages, 'note'>): void {
  const { until } = (/^\d{4}-\d\d(-\d\d)?$/.test(typed) ? parseStretch(typed, 0, 'UTC') : undefined) ?? {};
  if (until === undefined) return;
  const next = new Date(until).toISOString().slice(0, typed.length);
  messages.note('until', `--until ${typed} is before ${typed} begins; with all of it: --until ${next}`);
}

function checkWindow(
  since: number | undefined,
  until: number | undefined,
  messages: Pick<Messages, 'note'>,
): void {
  if (since === undefined || until === undefined || since < until) return;
  const time = new Date(since).toISOString();
  if (since === until) {
    messages.note(
      'empty-window',
      `no lead can match: --since and --until are both ${time}, and --until is not included`,
    );
    return;
  }
  throw new UsageError(
    `no lead can match: --since ${time} is after --until ${new Date(until).toISOString()}`,
    {
      hint: 'since <= createdAt < until; a duration such as 7d means that long ago',
    },
  );
}

function noteTyping({ text, condition }: TypedCondition, messages: Pick<Messages, 'note'>): void {
  const { path, operator, value } = condition;
  const read = `${path.join('.')}${operator}${value}`;
  if (operator === '=' && /^[=~<>]/.test(value)) {
    messages.note(
      'where-operator',
      `--where '${text}' looks for the text '${value}'; to be equal is one '='`,
    );
  } else if (read !== text) {
    messages.note(
      'where-spaces',
      `spaces around '${operator}' are ignored: --where '${text}' is read as '${read}'`,
    );
  }
}
