import { httpUrlOf } from '../../config/base-url.ts';
import { anyText, type ValueType } from '../../config/value-types.ts';
import { readSecretText } from '../../files/read.ts';
import { UsageError } from '../../errors.ts';
import { type Condition, parseCondition } from '../../lead/filter-condition.ts';
import { Secret } from '../../secret.ts';
import { parseDuration, parseInstant } from '../../time/time-text.ts';
import { parseStretch } from '../../time/zone.ts';
import { parsePointer } from '../../json/exact.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import type { Context } from '../../context.ts';

/** `--limit`: a whole number from 1, or `all`, which is Infinity. */
export const limit: ValueType<number> = {
  parse: (typed) => {
    if (typed === 'all') return Number.POSITIVE_INFINITY;
    return /^[1-9]\d{0,14}$/.test(typed) ? Number(typed) : undefined;
  },
  expected: "a whole number from 1, or 'all'",
};

/**
 * A time, or a half-open stretch of it, that is resolved when the command runs, since the declaration of a flag has neither clock nor
 * settings. `at` takes the current time and returns the typed one; both in milliseconds since the epoch.
 */
interface TypedTime<T> {
  readonly text: string;
  readonly at: (now: number, zone?: string) => T;
}

function typedTime<T>(
  parse: (typed: string, now: number, zone: string) => T | undefined,
  expected: string,
): ValueType<TypedTime<T>> {
  return {
    parse: (text) =>
      // Whether a text is a time does not depend on the current one, so it can be checked with any.
      parse(text, 0, 'UTC') === undefined
        ? undefined
        : { text, at: (now, zone = 'UTC') => parse(text, now, zone) as T },
    expected,
  };
}

export const pointInTime = typedTime(
  parseInstant,
  'a point in time: a date such as 2026-01-31, a date-time, today, yesterday, now, or a duration such as 7d',
);

export const stretch = {
  ...typedTime(
    parseStretch,
    'a stretch of time: 2026, 2026-10, 2026-W42, 2026-10-31, today, yesterday, this- or last-week, -month or -year',
  ),
  choices: 'today yesterday this-week last-week this-month last-month this-year last-year'.split(' '),
};

/** A file that is written beside what stdout carries: `-` would not mean stdout. */
export const writtenFile: ValueType<string> = {
  parse: (typed) => (typed === '' || typed === '-' ? undefined : typed),
  expected: 'the path of a file; stdout carries the results',
};

export const httpUrl: ValueType<URL> = {
  parse: httpUrlOf,
  expected: 'a URL that starts with https:// or http://',
};

/** Two signs in the wrong order get a hint with the operator that they probably mean. */
export const condition: ValueType<Condition> = {
  parse: parseCondition,
  expected: "a condition such as metadata.source=facebook or, in quotes, 'score>=10'",
  suggest: (typed) =>
    /=[~<>]/.test(typed)
      ? typed.replace(/=([~<>])/, (_, sign) => (sign === '~' ? '~' : `${sign}=`))
      : undefined,
};

export const fieldList: ValueType<readonly string[]> = {
  parse: (typed) => {
    const fields = typed.split(',').map((field) => field.trim());
    return fields.includes('') ? undefined : fields;
  },
  expected: 'a list of fields such as id,contact.email',
};

/** Accepts an empty text, which is a configuration error when the key is made. */
export const secret: ValueType<Secret> = { ...anyText, parse: (typed) => new Secret(typed) };

export const retrySchedule: ValueType<readonly number[]> = {
  parse: (typed) => {
    if (typed === 'none') return [];
    const waits = typed.split(',').map((wait) => parseDuration(wait.trim()));
    return waits.includes(undefined) ? undefined : (waits as number[]);
  },
  expected: "a list of durations such as 1s,5s,30s, or 'none'",
};

/** `100/1m`, and `100/m` for the same. */
export const requestRate: ValueType<{ readonly requests: number; readonly windowMs: number }> = {
  parse: (typed) => {
    const [, requests, window = ''] = /^([1-9]\d{0,8})\/(.+)$/.exec(typed) ?? [];
    const windowMs = parseDuration(/^[a-z]/.test(window) ? `1${window}` : window);
    return requests === undefined || windowMs === undefined || windowMs === 0
      ? undefined
      : { requests: Number(requests), windowMs };
  },
  expected: 'requests in a window, such as 100/1m',
};

/** `--header 'Name: value'`, as node writes headers: a character of the value for each byte. */
export const headerValue: ValueType<readonly [name: string, value: string]> = {
  parse: (typed) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/s.exec(typed) ?? [];
    if (name === undefined || value === undefined || /[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
      // Not quoted, as other flags are: a header may hold a credential.
      throw new UsageError('--header: that is no header', { hint: "write it as 'Name: value'" });
    }
    return [name, Buffer.from(value.trim(), 'utf8').toString('latin1')];
  },
  expected: "a header such as 'X-Source: test'",
};

/** `auto`, or a JSON Pointer in which `*` steps through an array; an empty one is the body. */
export const leadPointer: ValueType<LeadAt> = {
  parse: (typed) => (typed === 'auto' ? typed : parsePointer(typed)),
  expected: 'auto or a JSON Pointer such as /data',
};

/** Reads one secret from each file; `-` is stdin. Throws a `ConfigError` for a file that cannot be read. */
export async function readSecrets(
  files: readonly string[],
  context: Pick<Context, 'stdin'>,
): Promise<Secret[]> {
  const secrets: Secret[] = [];
  for (const file of files) secrets.push(new Secret(await readSecretText(file, context.stdin, 'secret')));
  return secrets;
}
