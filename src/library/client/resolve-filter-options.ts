import { UsageError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { type Condition, parseCondition } from '../../lead/filter-condition.ts';
import type { LeadQuery } from '../../service/listing/lead-query.ts';
import { parseInstant } from '../../time/instant.ts';

/** Which leads: the filters of `leads list` and `leads export`. Everything that is given must hold. */
export interface LeadFilterOptions {
  /** As the service judges it, such as `new`: it is sent, and not checked again. */
  readonly status?: string | undefined;
  /** Any of these. */
  readonly category?: string | readonly string[] | undefined;
  /**
   * Created then or later: a `Date`, an ISO 8601 date or date-time (UTC without a zone), `today`, `yesterday`, or a
   * duration such as `7d`, which means that long before the iteration first started. A lead whose `createdAt` cannot
   * be read is not dropped by this.
   */
  readonly since?: string | Date | undefined;
  /** Created before then, in the same forms. */
  readonly until?: string | Date | undefined;
  /** `PATH=VALUE`, all of these; also `!=`, `~` for contains, and `<` `<=` `>` `>=` for numbers and times. */
  readonly where?: string | readonly string[] | undefined;
}

/** What is asked of the service and what is checked here. `now` in milliseconds. Throws a `UsageError`. */
export function resolveFilterOptions(
  { status, category = [], since, until, where = [], ...others }: LeadFilterOptions,
  now: number,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  // Types say the same, and JavaScript does not read them: all leads would come.
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new UsageError(`'${unknown}' is no part of a filter`, {
      hint: 'the parts are status, category, since, until and where',
    });
  }
  const categories = [category].flat();
  const times = { since: instantOf('since', since, now), until: instantOf('until', until, now) };
  if (times.since !== undefined && times.until !== undefined && times.since > times.until) {
    throw new UsageError('no lead can match: since is after until', { hint: 'since <= createdAt < until' });
  }
  return {
    query: { status, categories, ...times },
    filter: { categories, ...times, where: [where].flat().map(conditionOf), now },
  };
}

function instantOf(name: string, value: string | Date | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const time = value instanceof Date ? value.getTime() : parseInstant(value, now);
  if (time !== undefined && !Number.isNaN(time)) return time;
  throw new UsageError(`${name} is '${String(value)}', which is no point in time`, {
    hint: 'a Date, 2026-01-31, a date-time, today, yesterday, or a duration such as 7d',
  });
}

function conditionOf(text: string): Condition {
  const condition = parseCondition(text);
  if (condition !== undefined) return condition;
  throw new UsageError(`where: '${text}' is no condition`, {
    hint: "such as 'metadata.source=facebook' or 'score>=10'",
  });
}
