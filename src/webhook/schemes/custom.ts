import { ConfigError } from '../../errors.ts';
import type { Encoding } from '../crypto/encoding.ts';
import type { Algorithm } from '../crypto/hmac.ts';
import type { SecretEncoding } from '../crypto/symmetric-key.ts';
import type { Scheme } from '../scheme.ts';
import type { TimestampFormat } from '../timestamp.ts';
import { hmacScheme } from './hmac-scheme.ts';

/** The scheme of a service that has no preset here; everything but the signature header has a default. */
export interface CustomOptions {
  readonly signatureHeader?: string | undefined;
  /** Default `hmac-sha256`. */
  readonly algorithm?: Algorithm | undefined;
  /** Default `hex`. */
  readonly encoding?: Encoding | undefined;
  readonly prefix?: string | undefined;
  /** `\\n` means a line break. Default `{body}`, or `{timestamp}.{body}` where a timestamp header is named. */
  readonly signedContent?: string | undefined;
  readonly timestampHeader?: string | undefined;
  /** Default `unix`. */
  readonly timestampFormat?: TimestampFormat | undefined;
  readonly nonceHeader?: string | undefined;
  /** Default `utf8`. */
  readonly secretEncoding?: SecretEncoding | undefined;
}

const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Throws a `ConfigError` for options that are incomplete or would check less than they seem to. */
export function custom(options: CustomOptions, toleranceMs: number): Scheme {
  const { signatureHeader, timestampHeader, nonceHeader } = options;
  if (signatureHeader === undefined) {
    throw new ConfigError("the scheme 'custom' needs the name of the header with the signature", {
      hint: 'name it with --signature-header',
    });
  }
  const headers = [signatureHeader, timestampHeader, nonceHeader].filter((name) => name !== undefined);
  for (const name of headers) {
    if (!fieldName.test(name)) throw new ConfigError(`'${name}' is not the name of a header`);
  }
  if (new Set(headers.map((name) => name.toLowerCase())).size < headers.length) {
    throw new ConfigError('signature, timestamp and nonce must come in headers of their own');
  }
  return hmacScheme({
    name: 'custom',
    signatureHeader: signatureHeader.toLowerCase(),
    algorithm: options.algorithm ?? 'hmac-sha256',
    encoding: options.encoding ?? 'hex',
    prefix: options.prefix ?? '',
    content:
      options.signedContent?.replaceAll('\\n', '\n') ??
      (timestampHeader === undefined ? '{body}' : '{timestamp}.{body}'),
    secretEncoding: options.secretEncoding ?? 'utf8',
    timestampHeader: timestampHeader?.toLowerCase(),
    timestampFormat: options.timestampFormat ?? 'unix',
    nonceHeader: nonceHeader?.toLowerCase(),
    toleranceMs,
  });
}
