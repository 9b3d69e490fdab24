import { UsageError } from '../errors.ts';
import { isObject, jsonIn } from '../json/exact.ts';
import { Secret } from '../secret.ts';
import type { Dialect } from './dialect.ts';
import { headersOfAnotherOrigin } from './errors.ts';
import type { ValueType } from './value-types.ts';

export type ExtraHeaders = Readonly<Record<string, string>>;

/** RFC 9110, 7.6.1 and 10.1, and RFC 9112, 6: they are between this client and the next server, or end a request. */
const connectionHeaders = [
  ...['connection', 'content-length', 'expect', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
];

/** Headers that the client sets itself, or by which it says where a request begins and ends: `leads api` takes none of them. */
export const clientHeaders: readonly string[] = [
  ...['authorization', 'host', 'user-agent', 'proxy-authorization'],
  ...connectionHeaders,
];

const setByClient = 'is set by leads itself';
const ofConnection = 'belongs to the connection or says where a request ends, which leads itself decides';
const asksForPart = 'asks for a part of the answer, and the list would lack the rest';

/** Why a profile cannot hold these headers. */
const objections: Readonly<Record<string, string>> = {
  ...Object.fromEntries(connectionHeaders.map((name) => [name, ofConnection])),
  authorization: 'holds the API key, which is set as api-key',
  'user-agent': setByClient,
  host: setByClient,
  // Answers are decoded as the client that sends the request can.
  'accept-encoding': setByClient,
  'proxy-connection': ofConnection,
  'content-encoding': ofConnection,
  'content-range': ofConnection,
  'proxy-authorization': 'is for the proxy, whose URL holds the user and the password',
  cookie: 'is refused: a session ends and changes, and the API key says who asks',
  range: asksForPart,
  'if-range': asksForPart,
};

const namePattern = /^[!#$%&'*+.^_`|~\w-]+$/;
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

function objectIn(typed: string): Readonly<Record<string, unknown>> | undefined {
  const json = jsonIn(typed);
  return isObject(json) ? json : undefined;
}

/** Returns the error of the first header that a profile cannot hold. */
function headerErrorIn(headers: Readonly<Record<string, unknown>>): UsageError | undefined {
  const earlierNames = new Set<string>();
  for (const [typed, value] of Object.entries(headers)) {
    const name = typed.toLowerCase();
    if (!namePattern.test(name))
      return new UsageError('api.headers: one of the names is no name of a header');
    const objection = earlierNames.has(name) ? 'is given twice' : objectionTo(name, value);
    if (objection !== undefined) return new UsageError(`api.headers: '${name}' ${objection}`);
    earlierNames.add(name);
  }
  return undefined;
}

function objectionTo(name: string, value: unknown): string | undefined {
  if (Object.hasOwn(objections, name)) return objections[name];
  return typeof value === 'string' && valuePattern.test(value)
    ? undefined
    : 'is not a text of printable ASCII characters, as the value of a header is';
}

/** Parses a JSON object; names become lower case. */
export const headersType: ValueType<ExtraHeaders> = {
  parse: (typed) => {
    const headers = objectIn(typed) ?? {};
    if (Object.keys(headers).length === 0 || headerErrorIn(headers) !== undefined) return undefined;
    return extraHeadersOf({ headers: headers as ExtraHeaders });
  },
  errorFor: (typed) => headerErrorIn(objectIn(typed) ?? {}),
  expected: `a JSON object of headers and their values, such as '{"x-api-version":"2"}'`,
  isHidden: true,
};

/** The headers that a dialect adds to each request, with names in lower case. */
export const extraHeadersOf = ({ headers = {} }: Dialect): ExtraHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Headers may hold a credential: throws a `ConfigError` for another origin than the one that they were stored for. */
export function rejectForeignHeaders(
  { dialect, headersOrigin }: { readonly dialect: Dialect; readonly headersOrigin: string | undefined },
  { origin }: URL,
): void {
  if (dialect.headers === undefined || headersOrigin === origin) return;
  throw headersOfAnotherOrigin(headersOrigin, origin);
}

/**
 * Any value may be a credential, unless the header has an unsuspicious name and the value is a version, a date or a media type,
 * which say what form of answer is wanted.
 */
const isSecret = ([name, value]: readonly [string, string]): boolean =>
  suspiciousName.test(name) || !plainValues.some((form) => form.test(value));

const suspiciousName = /auth|token|key|secret|passw|session|credential|signature/i;

const plainValues: readonly RegExp[] = [
  /^v?\d{1,3}(?:\.\d{1,4}){0,3}$/i,
  /^\d{4}-\d\d(?:-\d\d)?$/,
  /^(?:application|text)\/[\w.+*-]{1,60}(?:; ?(?:charset|q|v|version)=[\w.-]{1,10})*$/i,
];

/** Texts from which a shorter secret was removed would be unreadable. */
const shortestRemoved = 6;

/** The secrets to remove from texts that repeat a request. */
export const secretsIn = (headers: ExtraHeaders): readonly Secret[] =>
  Object.entries(headers)
    .filter((header) => isSecret(header) && header[1].length >= shortestRemoved)
    .map(([, value]) => new Secret(value));

export const withHiddenSecrets = (headers: ExtraHeaders): ExtraHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecret([name, value]) ? new Secret(value).toString() : value,
    ]),
  );
