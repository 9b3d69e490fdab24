import { ConfigError } from '../../errors.ts';
import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import { fieldName } from '../headers.ts';
import type { Scheme } from '../scheme.ts';
import type { CustomOptions } from '../scheme-options.ts';
import { templateScheme } from './template-scheme.ts';

/** Throws a `ConfigError` for options that are incomplete or would check less than they seem to. */
export function custom(options: CustomOptions, toleranceMs: number): Scheme {
  const { timestampPrefix, prefix = '' } = options;
  if (options.signatureHeader === undefined) {
    throw new ConfigError("the scheme 'custom' needs the name of the header with the signature", {
      hint: 'name it with --signature-header',
    });
  }
  const signatureHeader = fieldName(options.signatureHeader);
  const timestampHeader = nameOf(options.timestampHeader);
  const nonceHeader = nameOf(options.nonceHeader);
  const headers = [signatureHeader, timestampHeader, nonceHeader].filter((name) => name !== undefined);
  if (new Set(headers).size < headers.length) {
    throw new ConfigError('signature, timestamp and nonce must come in headers of their own', {
      hint: 'a time inside the signature header is named by --timestamp-prefix',
    });
  }
  if (timestampPrefix !== undefined && overlap(timestampPrefix, prefix)) {
    throw new ConfigError('the time and the signature in one header need prefixes that differ', {
      hint: 'such as --timestamp-prefix t= and --prefix v1=',
    });
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
