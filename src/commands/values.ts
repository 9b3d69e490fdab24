import * as z from 'zod/mini';
import { parseDuration } from '../time/duration.ts';
import { parseInstant } from '../time/instant.ts';
import { parseCondition } from '../lead/condition.ts';

/** A flag's text turned into a value, with one sentence for what is not one. */
export function parsed<T>(parse: (text: string) => T | undefined, expectation: string) {
  return z.pipe(
    z.string(),
    z.transform((text, context): T => {
      const value = parse(text);
      if (value !== undefined) return value;
      context.issues.push({ code: 'custom', message: `'${text}' is not ${expectation}`, input: text });
      return z.NEVER;
    }),
  );
}

/** A switch such as `--gzip`; false when not given. */
export const flag = () => z._default(z.boolean(), false);

export const text = () => z.string().check(z.minLength(1, 'must not be empty'));

export const texts = () => z._default(z.array(text()), []);

export const oneOf = <const V extends string>(values: readonly [V, ...V[]]) =>
  parsed((given) => values.find((value) => value === given), `one of ${values.join(', ')}`);

export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  parsed(
    (given) => {
      const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
    max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`,
  );

/** `--limit`: a whole number from 1, or `all`. */
export const limit = () =>
  parsed(
    (given) =>
      given === 'all' ? Number.POSITIVE_INFINITY : /^[1-9]\d{0,14}$/.test(given) ? Number(given) : undefined,
    "a whole number from 1, or 'all'",
  );

/** Milliseconds. */
export const duration = () => parsed(parseDuration, 'a duration such as 500ms, 30s, 5m, 2h or 7d');

/** The same, but not none: between two looks, or until something is given up. */
export const interval = () =>
  parsed((given) => {
    const ms = parseDuration(given) ?? 0;
    return ms > 0 ? ms : undefined;
  }, 'a duration above zero such as 500ms, 30s, 5m, 2h or 7d');

/** A function of now, since a schema has no clock: `since(context.clock.now())` in milliseconds. */
export const pointInTime = () =>
  parsed(
    (given) =>
      parseInstant(given, 0) === undefined
        ? undefined
        : (now: number): number => parseInstant(given, now) ?? Number.NaN,
    'a point in time: a date such as 2026-01-31, a date-time, today, yesterday, now, or a duration such as 7d',
  );

export const url = () =>
  parsed(
    (given) =>
      URL.canParse(given) && /^https?:$/.test(new URL(given).protocol) ? new URL(given) : undefined,
    'a URL that starts with https:// or http://',
  );

export const condition = () => parsed(parseCondition, 'a condition such as metadata.source=facebook');

/** `--fields id,contact.email`: dot paths. */
export const fieldList = () =>
  z.pipe(
    text(),
    z.transform((list) =>
      list
        .split(',')
        .map((field) => field.trim())
        .filter((field) => field !== ''),
    ),
  );
