import { Secret } from '../secret.ts';
import {
  customWithoutHeader,
  formatWithoutTime,
  headersNotApart,
  prefixesOverlap,
  schemeIsNoObject,
  schemeOfNewerVersion,
  straySchemePart,
  unknownScheme,
  unknownSchemePart,
  wrongSchemePart,
} from './errors.ts';
import { presets, schemeNames } from './presets.ts';
import type { Scheme } from './scheme.ts';
import { type Rejection, rejection } from './delivery-answer.ts';
import { presetScheme } from './schemes/preset-scheme.ts';
import {
  type SchemeOptions,
  type CustomOptions,
  type PartKey,
  schemePartKeys,
  schemeParts,
  strayPart,
} from './scheme-options.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs, formatTimestamp, parseTimestamp } from './timestamp.ts';
import { templateScheme } from './schemes/template-scheme.ts';
import { type Delivery, fieldName, soleHeader } from './delivery.ts';
import { parseDuration } from '../time/time-text.ts';

export type { SchemeOptions } from './scheme-options.ts';

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  return withPublicUrl(make(name, options), options.publicUrl);
}

function make(name: string, options: SchemeOptions): Scheme {
  const tolerance = options.toleranceMs ?? defaultToleranceMs;
  if (name === 'token') {
    const plain = token(options.tokenHeader);
    const { timestampHeader, timestampFormat, nonceHeader } = options;
    if (timestampHeader === undefined && timestampFormat !== undefined) {
      throw formatWithoutTime();
    }
    return timestampHeader === undefined && nonceHeader === undefined
      ? plain
      : timedToken(plain, options, tolerance);
  }
  if (name === 'custom') return custom(options, tolerance);
  const preset = presets.find((candidate) => candidate.name === name);
  if (preset !== undefined) {
    const { verifyToken } = options;
    const scheme = presetScheme(preset, options);
    return verifyToken === undefined ? scheme : { ...scheme, verifyToken: new Secret(verifyToken) };
  }
  throw unknownScheme(name, schemeNames);
}

function custom(options: CustomOptions, toleranceMs: number): Scheme {
  const { timestampPrefix, prefix = '' } = options;
  if (options.signatureHeader === undefined) throw customWithoutHeader();
  const signatureHeader = fieldName(options.signatureHeader);
  const timestampHeader = nameOf(options.timestampHeader);
  const nonceHeader = nameOf(options.nonceHeader);
  const headers = [signatureHeader, timestampHeader, nonceHeader].filter((name) => name !== undefined);
  if (new Set(headers).size < headers.length) throw headersNotApart('custom');
  if (timestampPrefix !== undefined && overlap(timestampPrefix, prefix)) {
    throw prefixesOverlap();
  }
  const isTimed = timestampHeader !== undefined || timestampPrefix !== undefined;
  const template = {
    ...options,
    name: 'custom',
    signatureHeader,
    prefix,
    separator: options.separator ?? (timestampPrefix === undefined ? undefined : ','),
    repeated: options.signatureHeaders === 'several',
    content: options.signedContent?.replaceAll('\\n', '\n') ?? (isTimed ? '{timestamp}.{body}' : '{body}'),
    timestampHeader,
    nonceHeader,
    toleranceMs,
  };
  return templateScheme(template);
}

const nameOf = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : fieldName(name);

/** An empty prefix overlaps with every other. */
const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/**
 * The time and the nonce beside a token keep a delivery from being replayed (specification, section 4.2, rule
 * 5): a delivery without a named header is rejected. Throws a `ConfigError` where two headers have one name.
 */
function timedToken(
  base: Scheme,
  { timestampHeader, timestampFormat = 'unix', nonceHeader }: SchemeOptions,
  toleranceMs: number,
): Scheme {
  const timeName = nameOf(timestampHeader);
  const nonceName = nameOf(nonceHeader);
  const plainHeaders = [timeName, nonceName].filter((name) => name !== undefined);
  const names = [...base.credentialHeaders, ...plainHeaders];
  if (new Set(names).size < names.length) throw headersNotApart('token');
  return {
    ...base,
    plainHeaders,
    toleranceMs: timeName === undefined ? undefined : toleranceMs,

    authenticate(delivery, keys) {
      const authentic = base.authenticate(delivery, keys);
      if (!authentic.ok) return authentic;
      const time = optionalHeader(delivery, timeName, 'missing_timestamp');
      if (!time.ok) return time;
      const timestamp = time.value === undefined ? undefined : parseTimestamp(time.value, timestampFormat);
      if (time.value !== undefined && timestamp === undefined) {
        const problem = `the header ${timeName ?? ''} is not a time in the form '${timestampFormat}'`;
        return rejection('malformed_timestamp', problem);
      }
      const nonce = optionalHeader(delivery, nonceName, 'missing_nonce');
      return nonce.ok ? { ...authentic, timestamp, nonce: nonce.value } : nonce;
    },

    sign(message, key, now) {
      const headers = [...base.sign(message, key, now)];
      if (timeName !== undefined) headers.push([timeName, formatTimestamp(now, timestampFormat)]);
      if (nonceName !== undefined) headers.push([nonceName, message.id]);
      return headers;
    },
  };
}

const optionalHeader = (
  delivery: Delivery,
  name: string | undefined,
  absent: 'missing_timestamp' | 'missing_nonce',
): { readonly ok: true; readonly value: string | undefined } | Rejection =>
  name === undefined ? { ok: true, value: undefined } : soleHeader(delivery, name, absent);

/**
 * A proxy may rewrite the URL that is signed: a delivery that does not match with its own URL is also checked
 * with the public one. The path of a public URL replaces the path of the request, and its query the query.
 */
export function withPublicUrl(scheme: Scheme, publicUrl: URL | undefined): Scheme {
  if (publicUrl === undefined || !scheme.signsUrl) return scheme;
  return {
    ...scheme,
    publicUrl,
    authenticate(delivery, keys) {
      const asReceived = scheme.authenticate(delivery, keys);
      if (asReceived.ok) return asReceived;
      const asSent = scheme.authenticate({ ...delivery, ...atPublicUrl(delivery, publicUrl) }, keys);
      return asSent.ok ? asSent : asReceived;
    },
  };
}

export function atPublicUrl(
  received: Pick<Delivery, 'path'>,
  { origin, pathname, search }: URL,
): Pick<Delivery, 'path' | 'url'> {
  const [receivedPath = '/', ...queryParts] = received.path.split('?');
  const receivedQuery = queryParts.length === 0 ? '' : `?${queryParts.join('?')}`;
  const path = (pathname === '/' ? receivedPath : pathname) + (search === '' ? receivedQuery : search);
  return { path, url: origin + path };
}

export interface SchemeDefinition {
  readonly name: string;
  readonly options: SchemeOptions;
}

type Members = Readonly<Record<string, unknown>>;

const optionKeys = ['tolerance', 'publicUrl'] as const;

/** Throws a `ConfigError` for anything but a known part: a misspelt part would check less than was meant. */
export function readSchemeDefinition(json: unknown): SchemeDefinition {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw schemeIsNoObject();
  }
  const { version = 1, scheme: name = 'custom', tolerance, publicUrl, ...parts } = json as Members;
  if (version !== 1) throw schemeOfNewerVersion(String(version));
  if (typeof name !== 'string' || !schemeNames.includes(name)) {
    throw unknownScheme(String(name), schemeNames);
  }
  const toleranceMs = typeof tolerance === 'string' ? parseDuration(tolerance) : undefined;
  if (tolerance !== undefined && toleranceMs === undefined)
    throw wrongSchemePart('tolerance', 'a duration such as 5m');
  const isUrl = typeof publicUrl === 'string' && URL.canParse(publicUrl);
  if (publicUrl !== undefined && !isUrl) throw wrongSchemePart('publicUrl', 'a URL');
  return {
    name,
    options: {
      ...schemePartsOf(name, parts),
      toleranceMs,
      publicUrl: isUrl ? new URL(publicUrl) : undefined,
    },
  };
}

export function schemePartsOf(
  name: string,
  members: Members,
  otherKeys: readonly string[] = ['scheme', ...optionKeys],
): SchemeOptions {
  const parts = Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => {
      const part = schemePartKeys.find((partKey) => partKey === key);
      if (part === undefined) {
        throw unknownSchemePart(key, [...otherKeys, ...schemePartKeys]);
      }
      return value === undefined ? [] : [[part, partValue(part, value)] as const];
    }),
  );
  const stray = strayPart(parts, name);
  if (stray === undefined) return parts;
  throw straySchemePart(stray, schemeParts[stray].of, name);
}

function partValue(part: PartKey, value: unknown): unknown {
  const { values } = schemeParts[part];
  if (typeof value !== 'string' || (value === '' && part !== 'prefix')) throw wrongSchemePart(part, 'a text');
  if (values?.includes(value) === false)
    throw wrongSchemePart(part, values.join(', ').replace(/^(.*), /, '$1 or '));
  return value;
}
