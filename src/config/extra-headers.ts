import { Secret } from '../secret.ts';
import type { Dialect } from './dialect.ts';
import { configError } from './problems.ts';
import type { Settings } from './settings.ts';
import type { ValueType } from './value-types.ts';

export type ExtraHeaders = Readonly<Record<string, string>>;

/** Set by every request itself, or they say where a request begins and ends. */
export const ownHeaders: readonly string[] = [
  ...['authorization', 'host', 'content-length', 'transfer-encoding', 'connection', 'user-agent'],
  ...['expect', 'upgrade', 'keep-alive', 'te', 'trailer', 'proxy-authorization'],
];

const namePattern = /^[!#$%&'*+.^_`|~\w-]+$/;
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Names in lower case and values, typed as one JSON object. */
export const headersType: ValueType<ExtraHeaders> = {
  parse: (typed) => {
    let given: unknown;
    try {
      given = JSON.parse(typed);
    } catch {
      return undefined;
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
    const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value as unknown]);
    const isSendable = headers.every(
      ([name, value]) =>
        typeof name === 'string' &&
        namePattern.test(name) &&
        !ownHeaders.includes(name) &&
        typeof value === 'string' &&
        valuePattern.test(value),
    );
    const parsed = Object.fromEntries(headers) as ExtraHeaders;
    const count = Object.keys(parsed).length;
    return isSendable && count > 0 && count === headers.length ? parsed : undefined;
  },
  expected: `a JSON object of headers and their values, such as '{"x-api-version":"2"}', without authorization`,
  isHidden: true,
};

/** What a dialect adds to each request, names in lower case. */
export const extraHeadersOf = ({ headers = {} }: Dialect): ExtraHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Throws a `ConfigError` where they would go to another origin than they were stored for: they may hold a credential. */
export function rejectForeignHeaders(
  { dialect, headersOrigin: of }: Pick<Settings, 'dialect' | 'headersOrigin'>,
  { origin }: URL,
): void {
  if (dialect.headers === undefined || of === origin) return;
  throw configError({ kind: 'headers-of-another-origin', of, origin });
}

const secretName = /auth|token|key|secret|cookie|passw|session|credential|signature/i;
/** A shorter value is no secret; taking it out of texts would make them unreadable. */
const shortestSecret = 8;

/** The values that are secrets by the names of their headers. */
export const secretsIn = (headers: ExtraHeaders): readonly Secret[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    secretName.test(name) && value.length >= shortestSecret ? [new Secret(value)] : [],
  );

/** For `leads config`: without the values that are secrets. */
export const shownHeaders = (headers: ExtraHeaders): ExtraHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretName.test(name) ? new Secret(value).toString() : value,
    ]),
  );
