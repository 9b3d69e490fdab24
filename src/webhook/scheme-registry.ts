import { Secret } from '../secret.ts';
import {
  customWithoutHeader,
  headersNotApart,
  prefixesOverlap,
  schemeIsNoObject,
  straySchemePart,
  unknownScheme,
  unknownSchemePart,
  wrongSchemePart,
} from './errors.ts';
import { branded, type Preset, presets, schemeNames } from './vendor-presets.ts';
import type { Scheme } from './scheme.ts';
import {
  type SchemeOptions,
  type CustomOptions,
  type PartKey,
  schemePartKeys,
  schemeParts,
  strayPart,
} from './scheme-options.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs } from './timestamp.ts';
import { templateScheme } from './schemes/template-scheme.ts';
import { credentialHeaderName, type Delivery, headerValues } from './delivery.ts';
import { parseDuration } from '../time/time-text.ts';

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  return withPublicUrl(schemeWithoutPublicUrl(name, options), options.publicUrl);
}

function schemeWithoutPublicUrl(name: string, options: SchemeOptions): Scheme {
  const tolerance = options.toleranceMs ?? defaultToleranceMs;
  if (name === 'token') return token(options, tolerance);
  if (name === 'custom') return customScheme(options, tolerance);
  const preset = presets.find((candidate) => candidate.name === name);
  if (preset !== undefined) {
    const { verifyToken } = options;
    const scheme = presetScheme(preset, options);
    return verifyToken === undefined ? scheme : { ...scheme, verifyToken: new Secret(verifyToken) };
  }
  throw unknownScheme(name, schemeNames);
}

function presetScheme(
  preset: Preset,
  { headerPrefix, toleranceMs }: Pick<SchemeOptions, 'headerPrefix' | 'toleranceMs'>,
): Scheme {
  const isBranded = preset.name === 'standard-webhooks' && headerPrefix !== undefined;
  const renamed = isBranded ? branded(preset, credentialHeaderName(headerPrefix)) : preset;
  const options = { ...renamed, toleranceMs: toleranceMs ?? renamed.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options);
  if (renamed.otherNames === undefined) return scheme;
  return byHeadersSent(
    scheme,
    renamed.otherNames.map((names) => templateScheme({ ...options, ...names })),
  );
}

/**
 * Checks a delivery by the first set of header names whose signature it carries, never by a mixture of them.
 * Signs as the first one does.
 */
function byHeadersSent(first: Scheme, alternatives: readonly Scheme[]): Scheme {
  const schemes = [first, ...alternatives];
  return {
    ...first,
    credentialHeaders: schemes.flatMap((scheme) => scheme.credentialHeaders),
    plainHeaders: schemes.flatMap((scheme) => scheme.plainHeaders ?? []),
    authenticate(delivery, keys) {
      const sentScheme = schemes.find(({ credentialHeaders }) =>
        credentialHeaders.some((name) => headerValues(delivery, name).length > 0),
      );
      return (sentScheme ?? first).authenticate(delivery, keys);
    },
  };
}

function customScheme(options: CustomOptions, toleranceMs: number): Scheme {
  const { timestampPrefix, prefix = '' } = options;
  if (options.signatureHeader === undefined) throw customWithoutHeader();
  const signatureHeader = credentialHeaderName(options.signatureHeader);
  const timestampHeader = optionalHeaderName(options.timestampHeader);
  const nonceHeader = optionalHeaderName(options.nonceHeader);
  const headers = [signatureHeader, timestampHeader, nonceHeader].filter((name) => name !== undefined);
  if (new Set(headers).size < headers.length) throw headersNotApart('custom');
  if (timestampPrefix !== undefined && overlap(timestampPrefix, prefix)) throw prefixesOverlap();
  const isTimed = timestampHeader !== undefined || timestampPrefix !== undefined;
  return templateScheme({
    ...options,
    name: 'custom',
    signatureHeader,
    prefix,
    separator: options.separator ?? (timestampPrefix === undefined ? undefined : ','),
    isRepeatable: options.signatureHeaders === 'several',
    content: options.signedContent?.replaceAll('\\n', '\n') ?? (isTimed ? '{timestamp}.{body}' : '{body}'),
    timestampHeader,
    nonceHeader,
    toleranceMs,
  });
}

const optionalHeaderName = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : credentialHeaderName(name);

/** An entry could then be read as a time and as a signature. An empty prefix overlaps with every other. */
const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/**
 * A proxy may rewrite the URL that is signed: a delivery that does not match with its own URL is also checked
 * with the public one.
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

/** Undefined for what senders cannot call, such as `a.example:443`, which is a URL of the protocol `a.example`. */
export function publicUrlIn(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The path of the public URL replaces that of the request, unless it is `/`, and its query the query, unless empty. */
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

const nonPartKeys = ['tolerance', 'publicUrl'] as const;

/** Throws a `ConfigError` for anything but a known part: a misspelt part would check less than was meant. */
export function readSchemeDefinition(json: unknown): SchemeDefinition {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw schemeIsNoObject();
  const { scheme: name = 'custom', tolerance, publicUrl, ...parts } = json as Members;
  if (typeof name !== 'string' || !schemeNames.includes(name)) throw unknownScheme(String(name), schemeNames);
  const toleranceMs = typeof tolerance === 'string' ? parseDuration(tolerance) : undefined;
  if (tolerance !== undefined && toleranceMs === undefined)
    throw wrongSchemePart('tolerance', 'a duration such as 5m');
  const url = typeof publicUrl === 'string' ? publicUrlIn(publicUrl) : undefined;
  if (publicUrl !== undefined && url === undefined)
    throw wrongSchemePart('publicUrl', 'a URL with https:// or http://');
  return { name, options: { ...schemePartsOf(name, parts), toleranceMs, publicUrl: url } };
}

/** `otherKeys` are what else may be beside the parts; only the hint names them. */
export function schemePartsOf(
  name: string,
  members: Members,
  otherKeys: readonly string[] = ['scheme', ...nonPartKeys],
): SchemeOptions {
  const parts = Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => {
      const part = schemePartKeys.find((partKey) => partKey === key);
      if (part === undefined) throw unknownSchemePart(key, [...otherKeys, ...schemePartKeys]);
      return value === undefined ? [] : [[part, partValue(part, value)] as const];
    }),
  );
  const stray = strayPart(parts, name);
  if (stray === undefined) return parts;
  throw straySchemePart(stray, schemeParts[stray].schemes, name);
}

function partValue(part: PartKey, value: unknown): unknown {
  const { values } = schemeParts[part];
  if (typeof value !== 'string' || (value === '' && part !== 'prefix')) throw wrongSchemePart(part, 'a text');
  if (values?.includes(value) === false)
    throw wrongSchemePart(part, values.join(', ').replace(/^(.*), /, '$1 or '));
  return value;
}
