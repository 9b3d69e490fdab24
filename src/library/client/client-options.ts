import { misplacedInProfile } from '../../config/check-config.ts';
import type { Dialect } from '../../config/dialect.ts';
import { UsageError } from '../../errors.ts';
import type { Json } from '../../json/exact.ts';
import { type Condition, parseCondition } from '../../lead/filter-condition.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { longestTimerMs, parseInstant } from '../../time/time-text.ts';
import { type OptionNames, requireKnownOptions } from '../webhook/option-names.ts';
import type { Checkpoint } from './lead-checkpoint.ts';

/** One account, and how its service is asked. */
export interface ClientOptions {
  /**
   * Address of the service: https, or http to a loopback address only, since the key travels with every request. The key
   * is sent to this origin and to no other.
   */
  readonly baseUrl: string | URL;
  /**
   * The API key, or a function that gives it, called once when an iteration begins. An environment variable can be given as
   * it is: one that is not set is a `UsageError`.
   */
  readonly apiKey: string | undefined | (() => string | Promise<string>);
  /** How this service names what the specification leaves open; what is missing is found out from its answers. */
  readonly dialect?: Dialect | undefined;
  /** For connecting, for the first header, and for each wait for more of an answer; milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed request is tried again. Default 5. */
  readonly retries?: number | undefined;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are looked up, such as `process.env`. Default: nowhere. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const clientOptions: OptionNames<ClientOptions> = {
  baseUrl: true,
  apiKey: true,
  dialect: true,
  timeoutMs: true,
  retries: true,
  env: true,
};

/**
 * Throws a `TypeError` for an unknown option, and a `UsageError` for one that has another form. What is wrong is named,
 * values are not: one is the key.
 */
export function checkClientOptions(options: ClientOptions): void {
  requireKnownOptions(options, clientOptions, 'createClient');
  const { apiKey, dialect, timeoutMs, retries } = options;
  if (typeof apiKey === 'string') checkKey(apiKey);
  else if (typeof apiKey !== 'function') {
    throw new UsageError('apiKey is missing', {
      hint: 'it is a text, or a function that gives one; is the environment variable set that it comes from?',
    });
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= longestTimerMs)) {
    throw new UsageError(`timeoutMs is not a number of milliseconds from 1 to ${longestTimerMs}`);
  }
  if (retries !== undefined && !(Number.isInteger(retries) && retries >= 0)) {
    throw new UsageError('retries is not a whole number from 0');
  }
  const path = misplacedInProfile({ api: withoutUndefined(dialect ?? {}) });
  if (path !== undefined) {
    throw new UsageError(`${['dialect', ...path.slice(1)].join('.')} is not what a dialect holds there`, {
      hint: "'leads help dialect' lists what a dialect holds",
    });
  }
}

/** Throws a `UsageError` for a key that no header can hold: it is a mistake in copying, and every request would fail. */
export function checkKey(apiKey: unknown): asserts apiKey is string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new UsageError('apiKey is empty');
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new UsageError('apiKey holds white space or other characters that cannot be part of a key');
}

const withoutUndefined = (dialect: object): Json => JSON.parse(JSON.stringify(dialect)) as Json;

/** How one iteration runs. */
export interface LeadsOptions {
  /** Ends the iteration with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Takes what there is for everything where the service does not show that it is: no `IncompleteError` then. A function
   * is given what was seen, as a sentence.
   */
  readonly acceptIncomplete?: boolean | ((why: string) => void) | undefined;
  /**
   * Told, once for each cause, what is no error and yet worth a line in a log, as a sentence: that the service lists leads of
   * another status than the one that was asked for, that no lead has a field that is filtered by, that its one answer counts as everything, that it makes us wait for more
   * than 3 s. What it throws ends the iteration.
   */
  readonly onNote?: ((note: string) => void) | undefined;
  /**
   * Goes on where an earlier iteration with the same client options and filter was interrupted; null: from the start. From the
   * checkpoint of one that was complete nothing comes.
   */
  readonly from?: Checkpoint | null | undefined;
}

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

const filterOptions: OptionNames<LeadFilterOptions> = {
  status: true,
  category: true,
  since: true,
  until: true,
  where: true,
};

const leadsOptions: OptionNames<LeadsOptions> = {
  signal: true,
  acceptIncomplete: true,
  onNote: true,
  from: true,
};

/** Throws a `TypeError` for what is unknown: of a misspelt filter, all leads would come. */
export function requireLeadsOptions(filter: LeadFilterOptions, options: LeadsOptions): void {
  requireKnownOptions(filter, filterOptions, 'the filter of leads()');
  requireKnownOptions(options, leadsOptions, 'leads()');
}

/** What is asked of the service and what is checked here. `now` in milliseconds. Throws a `UsageError`. */
export function resolveFilterOptions(
  { status, category = [], since, until, where = [] }: LeadFilterOptions,
  now: number,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const categories = [category].flat();
  // Of another kind in JavaScript, where no lead would match.
  const noText = [status ?? '', ...categories].find((given: unknown) => typeof given !== 'string');
  if (noText !== undefined) throw new UsageError(`'${noText}' is no status or category`);
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
