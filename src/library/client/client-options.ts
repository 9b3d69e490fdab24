import { faultyPathInDialect } from '../../config/check-config.ts';
import type { Dialect } from '../../config/dialect.ts';
import { UsageError } from '../../errors.ts';
import type { Json } from '../../json/exact.ts';
import { type Condition, parseCondition } from '../../lead/filter-condition.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { LeadQuery } from '../../service/listing-types.ts';
import { longestTimerMs, parseInstant } from '../../time/time-text.ts';
import { type OptionNames, requireKnownOptions } from '../webhook/options.ts';
import type { Checkpoint } from './lead-checkpoint.ts';

/** The account of a client, and how its service is asked. */
export interface ClientOptions {
  /**
   * The address of the service: https, or http to a loopback address only, because the API key travels with
   * every request. The key is sent to this origin and to no other.
   */
  readonly baseUrl: string | URL;
  /**
   * The API key, or a function that returns it and is called once when an iteration begins. It may be an
   * environment variable as it is: one that is not set is a `UsageError`.
   */
  readonly apiKey: string | undefined | (() => string | Promise<string>);
  /**
   * The names that this service uses for what the specification leaves open. The client detects those that
   * are missing from the answers.
   */
  readonly dialect?: Dialect | undefined;
  /**
   * The limit for connecting, for the first header, and for each wait for more of an answer, in milliseconds.
   * Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /** The number of retries of a failed request. Default 5. */
  readonly retries?: number | undefined;
  /**
   * The environment that may name a proxy with `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, such as
   * `process.env`. Default: none.
   */
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
 * Throws a `TypeError` for an unknown option, and a `UsageError` for a value of another form. The messages
 * quote no value, because the key is one of them.
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
  const path = faultyPathInDialect(withoutUndefined(dialect ?? {}));
  if (path !== undefined) {
    throw new UsageError(`${['dialect', ...path].join('.')} is not what a dialect holds there`, {
      hint: "'leads help dialect' lists what a dialect holds",
    });
  }
}

/** Throws a `UsageError` for a key that no header can hold: every request would fail. */
export function checkKey(apiKey: unknown): asserts apiKey is string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new UsageError('apiKey is empty');
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new UsageError('apiKey holds white space or other characters that cannot be part of a key');
}

const withoutUndefined = (dialect: object): Json => JSON.parse(JSON.stringify(dialect)) as Json;

/** The options of one iteration. */
export interface LeadsOptions {
  /** Aborting it ends the iteration with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the iteration normally where the service does not prove that the list was complete, in place of an
   * `IncompleteError`. A function receives the reason as a sentence.
   */
  readonly acceptIncomplete?: boolean | ((why: string) => void) | undefined;
  /**
   * Receives, once for each cause, a sentence that is worth a line in a log and is no error: the service
   * ignores the filter by status, no lead has a field of the filter, a single answer counts as the whole
   * list, or the service makes the client wait for more than 3 s. An error that it throws ends the iteration.
   */
  readonly onNote?: ((note: string) => void) | undefined;
  /**
   * Continues an earlier iteration with the same client options and filter; null starts at the beginning.
   * From the checkpoint of a complete iteration no lead comes.
   */
  readonly from?: Checkpoint | null | undefined;
}

/** Selects leads as `leads list` and `leads export` do. A lead must pass every filter. */
export interface LeadFilterOptions {
  /** The delivery status, such as `new`. The service judges it; the client does not check it again. */
  readonly status?: string | undefined;
  /** Several categories are alternatives. */
  readonly category?: string | readonly string[] | undefined;
  /**
   * Leads that were created at this time or later: a `Date`, an ISO 8601 date or date-time (UTC without a
   * zone), `today`, `yesterday`, or a duration such as `7d`, counted back from the first start of the
   * iteration. A lead whose `createdAt` cannot be read always passes.
   */
  readonly since?: string | Date | undefined;
  /** Leads that were created before this time, in the same forms. */
  readonly until?: string | Date | undefined;
  /**
   * Conditions such as `PATH=VALUE`, all of which must hold; also with `!=`, `~` for contains, and `<` `<=`
   * `>` `>=` for numbers and times.
   */
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

/** Throws a `TypeError` for an unknown name: with a misspelt filter, all leads would come. */
export function requireLeadsOptions(filter: LeadFilterOptions, options: LeadsOptions): void {
  requireKnownOptions(filter, filterOptions, 'the filter of leads()');
  requireKnownOptions(options, leadsOptions, 'leads()');
}

/**
 * Divides the filter into the part that the service is asked for and the part that is checked here. `now` is
 * in milliseconds. Throws a `UsageError`.
 */
export function resolveFilterOptions(
  { status, category = [], since, until, where = [] }: LeadFilterOptions,
  now: number,
): { readonly query: LeadQuery; readonly filter: LeadFilter } {
  const categories = [category].flat();
  // JavaScript may give a number here, which no lead would match.
  const noText = [status ?? '', ...categories].find((value: unknown) => typeof value !== 'string');
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
