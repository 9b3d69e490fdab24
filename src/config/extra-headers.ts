import { UsageError } from '../errors.ts';
import { isObject, jsonIn } from '../json/exact.ts';
import { Secret } from '../secret.ts';
import type { Dialect } from './dialect.ts';
import { headersOfAnotherOrigin } from './errors.ts';
import type { ValueType } from './value-types.ts';

export type ExtraHeaders = Readonly<Record<string, string>>;

/** Headers that every request sets itself, or that say where a request begins and ends. */
export const ownHeaders: readonly string[] = [
  ...['authorization', 'host', 'content-length', 'transfer-encoding', 'connection', 'user-agent'],
  ...['expect', 'upgrade', 'keep-alive', 'te', 'trailer', 'proxy-authorization'],
];

const ownHeader = 'is set by leads itself';
const framing = 'belongs to the connection or says where a request ends, which leads itself decides';
const part = 'asks for a part of the answer, and the list would lack the rest';

const refused: Readonly<Record<string, string>> = {
  authorization: 'holds the API key, which is set as api-key',
  'user-agent': ownHeader,
  host: ownHeader,
  // Answers are decoded as the client that sends the request can.
  'accept-encoding': ownHeader,
  // RFC 9110, 7.6.1 and 10.1, and RFC 9112, 6: they are between this client and the next server, or end a request.
  connection: framing,
  'content-length': framing,
  expect: framing,
  'keep-alive': framing,
  'proxy-connection': framing,
  te: framing,
  trailer: framing,
  'transfer-encoding': framing,
  upgrade: framing,
  'content-encoding': framing,
  'content-range': framing,
  'proxy-authorization': 'is for the proxy, whose URL holds the user and the password',
  cookie: 'is refused: a session ends and changes, and the API key says who asks',
  range: part,
  'if-range': part,
};

const namePattern = /^[!#$%&'*+.^_`|~\w-]+$/;
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

function objectIn(typed: string): Readonly<Record<string, unknown>> | undefined {
  const json = jsonIn(typed);
  return isObject(json) ? json : undefined;
}

/** Names the first of the headers that cannot be one of a profile. */
function headerErrorIn(headers: Readonly<Record<string, unknown>>): UsageError | undefined {
  const met = new Set<string>();
  for (const [typed, value] of Object.entries(headers)) {
    const name = typed.toLowerCase();
    if (!namePattern.test(name))
      return new UsageError('api.headers: one of the names is no name of a header');
    const objection = met.has(name) ? 'is given twice' : objectionTo(name, value);
    if (objection !== undefined) return new UsageError(`api.headers: '${name}' ${objection}`);
    met.add(name);
  }
  return undefined;
}

function objectionTo(name: string, value: unknown): string | undefined {
  if (Object.hasOwn(refused, name)) return refused[name];
  return typeof value === 'string' && valuePattern.test(value)
    ? undefined
    : 'is not a text of printable ASCII characters, as the value of a header is';
}

/** A JSON object; names become lower case. */
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
  {
    dialect,
    headersOrigin: bound,
  }: { readonly dialect: Dialect; readonly headersOrigin: string | undefined },
  { origin }: URL,
): void {
  if (dialect.headers === undefined || bound === origin) return;
  throw headersOfAnotherOrigin(bound, origin);
}

const secretName = /auth|token|key|secret|passw|session|credential|signature/i;
/** A version, a date and a media type say which form of answer is wanted. */
const plainValues: readonly RegExp[] = [
  /^v?\d{1,3}(?:\.\d{1,4}){0,3}$/i,
  /^\d{4}-\d\d(?:-\d\d)?$/,
  /^(?:application|text)\/[\w.+*-]{1,60}(?:; ?(?:charset|q|v|version)=[\w.-]{1,10})*$/i,
];
/** Taking a shorter one out of texts would make them unreadable. */
const shortestInTexts = 6;

/** Any value may be a credential, unless it is clearly none. */
const isSecret = ([name, value]: readonly [string, string]): boolean =>
  secretName.test(name) || !plainValues.some((form) => form.test(value));

export const secretsIn = (headers: ExtraHeaders): readonly Secret[] =>
  Object.entries(headers)
    .filter((header) => isSecret(header) && header[1].length >= shortestInTexts)
    .map(([, value]) => new Secret(value));

export const shownHeaders = (headers: ExtraHeaders): ExtraHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecret([name, value]) ? new Secret(value).toString() : value,
    ]),
  );
