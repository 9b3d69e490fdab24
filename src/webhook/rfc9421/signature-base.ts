import { createHash } from 'node:crypto';
import { equalInConstantTime } from '../crypto/signature.ts';
import { type Delivery, headerValues, pathOf, trimBlanks } from '../delivery.ts';
import {
  type Item,
  type Parameters,
  parseDictionary,
  serializeInnerList,
  serializeItem,
  serializeStrictly,
} from './structured-fields.ts';

/** One value of `Signature-Input`: what was signed, and under which parameters. */
export interface SignatureInput {
  readonly items: readonly Item[];
  readonly params: Parameters;
}

/**
 * The bytes that are signed (RFC 9421, section 2.5); undefined when a covered component is unknown or not in the message.
 * Header values are in it as the bytes that were sent.
 */
export function signatureBase(
  input: SignatureInput,
  valueOf: (component: Item) => string | undefined,
): Buffer | undefined {
  const lines: string[] = [];
  for (const item of input.items) {
    const value = valueOf(item);
    if (value === undefined) return undefined;
    lines.push(`${serializeItem(item)}: ${value}`);
  }
  lines.push(`"@signature-params": ${serializeInnerList(input.items, input.params)}`);
  return Buffer.from(lines.join('\n'), 'latin1');
}

/** The parts of a request from which components are read. */
export type Message = Pick<Delivery, 'method' | 'url' | 'path' | 'rawHeaders'>;

/**
 * A component's value in a request (RFC 9421, sections 2.1 and 2.2); undefined for one that the request does not have, or
 * whose name or parameters are not known here: `sf`, `bs`, and the `name` of a query parameter are.
 */
export function componentOf(message: Message, { bare, params }: Item): string | undefined {
  if (bare.kind !== 'string') return undefined;
  const [only, ...others] = [...params];
  if (others.length > 0) return undefined;
  if (only === undefined) {
    return bare.value.startsWith('@')
      ? derived(message, bare.value)
      : header(message, bare.value)?.join(', ');
  }
  const [parameter, given] = only;
  if (bare.value === '@query-param') {
    return parameter === 'name' && given.kind === 'string' ? queryParameter(message, given.value) : undefined;
  }
  if (given.value !== true) return undefined;
  const values = header(message, bare.value);
  if (parameter === 'sf') return values === undefined ? undefined : serializeStrictly(values.join(', '));
  if (parameter !== 'bs') return undefined;
  return values?.map((value) => `:${Buffer.from(value, 'latin1').toString('base64')}:`).join(', ');
}

function header(message: Message, name: string): string[] | undefined {
  const values = headerValues(message, name);
  return values.length === 0 || name !== name.toLowerCase() ? undefined : values.map(trimBlanks);
}

function derived(message: Message, name: string): string | undefined {
  const url = URL.canParse(message.url) ? new URL(message.url) : undefined;
  switch (name) {
    case '@method':
      return message.method;
    case '@target-uri':
      return message.url;
    case '@authority':
      return url?.host;
    case '@scheme':
      return url?.protocol.slice(0, -1);
    case '@request-target':
      return message.path;
    case '@path':
      return pathOf(message);
    case '@query':
      return `?${queryOf(message)}`;
    default:
      return undefined;
  }
}

const queryOf = ({ path }: Message): string => path.split('?').slice(1).join('?');

/** The value of a parameter that the query holds once (section 2.2.8); name and value are percent-encoded. */
function queryParameter(message: Message, name: string): string | undefined {
  let parameters = queries.get(message);
  if (parameters === undefined) queries.set(message, (parameters = queryParameters(message)));
  return parameters.get(name);
}

/** A signature may name many parameters, and nobody knows yet whose it is: the query is taken apart once. */
const queries = new WeakMap<Message, ReadonlyMap<string, string | undefined>>();

/** Undefined for a parameter that is there more than once. */
function queryParameters(message: Message): ReadonlyMap<string, string | undefined> {
  const parameters = new Map<string, string | undefined>();
  for (const [key, text] of new URLSearchParams(queryOf(message))) {
    const name = percentEncode(key);
    parameters.set(name, parameters.has(name) ? undefined : percentEncode(text));
  }
  return parameters;
}

const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!~'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const hashes: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** `Content-Digest` for a body (RFC 9530). */
export const contentDigest = (body: Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** Whether the header states a digest of a known algorithm, and every digest of a known algorithm is the body's. */
export function digestMatches(header: string, body: Uint8Array): boolean {
  const known = [...(parseDictionary(header) ?? [])].flatMap(([name, member]) => {
    const hash = hashes.get(name);
    return hash === undefined ? [] : [{ hash, member }];
  });
  return (
    known.length > 0 &&
    known.every(
      ({ hash, member }) =>
        'bare' in member &&
        member.bare.kind === 'bytes' &&
        equalInConstantTime(createHash(hash).update(body).digest(), member.bare.value),
    )
  );
}
