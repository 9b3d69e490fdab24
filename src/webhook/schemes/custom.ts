import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import { fieldName } from '../headers.ts';
import { configError } from '../problems.ts';
import type { Scheme } from '../scheme.ts';
import type { CustomOptions } from '../scheme-options.ts';
import { templateScheme } from './template-scheme.ts';

/** Throws a `ConfigError` for options that are incomplete or would check less than they seem to. */
export function custom(options: CustomOptions, toleranceMs: number): Scheme {
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
