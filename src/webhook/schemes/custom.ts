import { ConfigError } from '../../errors.ts';
import type { Algorithm } from '../crypto/signature.ts';
import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import type { Encoding, SecretEncoding } from '../crypto/symmetric-key.ts';
import { fieldName } from '../headers.ts';
import type { Scheme } from '../scheme.ts';
import type { TimestampFormat } from '../timestamp.ts';
import { templateScheme } from './template-scheme.ts';

/** The scheme of a service that has no preset here; everything but the signature header has a default. */
export interface CustomOptions {
  readonly signatureHeader?: string | undefined;
  /** Whether the header may be sent several times, one signature each. Default `one`. */
  readonly signatureHeaders?: 'one' | 'several' | undefined;
  /** Default `hmac-sha256`. */
  readonly algorithm?: Algorithm | undefined;
  /** Default `hex`. */
  readonly encoding?: Encoding | undefined;
  readonly prefix?: string | undefined;
  /** Between several values in the signature header. Default: there is one value; a comma where it also holds the time. */
  readonly separator?: string | undefined;
  /** `\\n` means a line break. Default `{body}`, or `{timestamp}.{body}` where a time is sent. */
  readonly signedContent?: string | undefined;
  readonly timestampHeader?: string | undefined;
  /** Before the time, where it stands in the signature header. */
  readonly timestampPrefix?: string | undefined;
  /** Default `unix`. */
  readonly timestampFormat?: TimestampFormat | undefined;
  readonly nonceHeader?: string | undefined;
  /** Default `utf8`. */
  readonly secretEncoding?: SecretEncoding | undefined;
}

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
