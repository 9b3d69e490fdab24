import { Secret } from '../secret.ts';
import { asymmetricKey } from './crypto/asymmetric-key.ts';
import { configError } from './problems.ts';
import { presets, schemeNames } from './presets.ts';
import { rfc9421 } from './rfc9421/rfc9421-scheme.ts';
import { type Scheme, type Rejected, rejected } from './scheme.ts';
import { presetScheme } from './schemes/preset-scheme.ts';
import { withPublicUrl } from './schemes/public-url.ts';
import type { SchemeOptions, CustomOptions } from './scheme-options.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs, formatTimestamp, parseTimestamp } from './timestamp.ts';
import { fieldName, soleHeader } from './headers.ts';
import { templateScheme } from './schemes/template-scheme.ts';
import type { Delivery } from './delivery.ts';

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
      throw configError({ kind: 'format-without-time' });
    }
    return timestampHeader === undefined && nonceHeader === undefined
      ? plain
      : timedToken(plain, options, tolerance);
  }
  if (name === 'rfc9421') return rfc9421(tolerance, options.secretEncoding ?? 'utf8', options.require);
  if (name === 'custom') return custom(options, tolerance);
  const preset = presets.find((known) => known.name === name);
  if (preset !== undefined) {
    const { verifyToken } = options;
    const scheme = presetScheme(preset, options, asymmetricKey);
    return verifyToken === undefined ? scheme : { ...scheme, verifyToken: new Secret(verifyToken) };
  }
  throw configError({ kind: 'unknown-scheme', name, known: schemeNames });
}

/** Throws a `ConfigError` for options that are incomplete or would check less than they seem to. */
function custom(options: CustomOptions, toleranceMs: number): Scheme {
  const { timestampPrefix, prefix = '' } = options;
  if (options.signatureHeader === undefined) throw configError({ kind: 'custom-without-header' });
  const signatureHeader = fieldName(options.signatureHeader);
  const timestampHeader = nameOf(options.timestampHeader);
  const nonceHeader = nameOf(options.nonceHeader);
  const headers = [signatureHeader, timestampHeader, nonceHeader].filter((name) => name !== undefined);
  if (new Set(headers).size < headers.length)
    throw configError({ kind: 'headers-not-apart', scheme: 'custom' });
  if (timestampPrefix !== undefined && overlap(timestampPrefix, prefix)) {
    throw configError({ kind: 'prefixes-overlap' });
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
  return templateScheme(template, asymmetricKey);
}

const nameOf = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : fieldName(name);

/** Also of none at all and any other. */
const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/**
 * A token with a time and a nonce in headers beside it, which keep a delivery from being replayed (specification, section 4.2,
 * rule 5): where a header is named, a delivery without it is rejected. Throws a `ConfigError` for headers that are not apart.
 */
function timedToken(
  base: Scheme,
  { timestampHeader, timestampFormat = 'unix', nonceHeader }: SchemeOptions,
  toleranceMs: number,
): Scheme {
  const timeName = timestampHeader === undefined ? undefined : fieldName(timestampHeader);
  const nonceName = nonceHeader === undefined ? undefined : fieldName(nonceHeader);
  const names = [...base.credentialHeaders, timeName, nonceName].filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw configError({ kind: 'headers-not-apart', scheme: 'token' });
  return {
    ...base,
    toleranceMs: timeName === undefined ? undefined : toleranceMs,

    authenticate(delivery, keys) {
      const authentic = base.authenticate(delivery, keys);
      if (!authentic.ok) return authentic;
      const time = beside(delivery, timeName, 'missing_timestamp');
      if (!time.ok) return time;
      const timestamp = time.value === undefined ? undefined : parseTimestamp(time.value, timestampFormat);
      if (time.value !== undefined && timestamp === undefined) {
        const problem = `the header ${timeName ?? ''} is not a time in the form '${timestampFormat}'`;
        return rejected('malformed_timestamp', problem);
      }
      const nonce = beside(delivery, nonceName, 'missing_nonce');
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

/** The value of a header that is wanted beside the token; undefined where none is. */
const beside = (
  delivery: Delivery,
  name: string | undefined,
  absent: 'missing_timestamp' | 'missing_nonce',
): { readonly ok: true; readonly value: string | undefined } | Rejected =>
  name === undefined ? { ok: true, value: undefined } : soleHeader(delivery, name, absent);
