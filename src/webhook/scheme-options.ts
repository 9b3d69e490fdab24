/** With `-der`, the ECDSA signature is in ASN.1; without it, it is r and s alone. */
export const algorithms = [
  'hmac-sha256',
  'hmac-sha384',
  'hmac-sha512',
  'hmac-sha1',
  'ed25519',
  'ecdsa-p256-sha256',
  'ecdsa-p256-sha256-der',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const;

export type Algorithm = (typeof algorithms)[number];

/** In the order in which an unknown text is tried: all hex digits are base64, too. */
export const encodings = ['hex', 'hex-upper', 'base64', 'base64url'] as const;

export type Encoding = (typeof encodings)[number];

/** `whsec` is base64 after an optional `whsec_` (Standard Webhooks). */
const secretEncodings = ['utf8', 'hex', 'base64', 'whsec'] as const;

export type SecretEncoding = (typeof secretEncodings)[number];

export const timestampFormats = ['unix', 'milliseconds', 'iso'] as const;

export type TimestampFormat = (typeof timestampFormats)[number];

/**
 * The scheme of a service that has no preset here; everything but the signature header has a default:
 * `signatureHeaders` is `one`, `algorithm` is `hmac-sha256`, `encoding` is `hex`, `timestampFormat` is `unix`, and
 * `secretEncoding` is `utf8`.
 */
export interface CustomOptions {
  readonly signatureHeader?: string | undefined;
  /** Whether the header may be sent several times, one signature each. */
  readonly signatureHeaders?: 'one' | 'several' | undefined;
  readonly algorithm?: Algorithm | undefined;
  readonly encoding?: Encoding | undefined;
  readonly prefix?: string | undefined;
  /**
   * The text between several values in the signature header. Default: one value, or a comma where the header
   * also holds the time.
   */
  readonly separator?: string | undefined;
  /** `\\n` means a line break. Default `{body}`, or `{timestamp}.{body}` where a time is sent. */
  readonly signedContent?: string | undefined;
  readonly timestampHeader?: string | undefined;
  /** The text before the time, where the signature header holds it. */
  readonly timestampPrefix?: string | undefined;
  readonly timestampFormat?: TimestampFormat | undefined;
  readonly nonceHeader?: string | undefined;
  readonly secretEncoding?: SecretEncoding | undefined;
}

export interface SchemeOptions extends CustomOptions {
  /** How far a signed time may lie from now, in milliseconds. Default: the vendor's limit, or 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** Only for the scheme `token`. Default `x-webhook-token`. */
  readonly tokenHeader?: string | undefined;
  /**
   * Only for `standard-webhooks`: the vendor's own prefix of its headers, which are accepted beside the
   * unbranded ones.
   */
  readonly headerPrefix?: string | undefined;
  /** Only for `meta`: the verify token of its registration; a secret. */
  readonly verifyToken?: string | undefined;
  /** The receiver's URL as its senders know it, for schemes that sign it. */
  readonly publicUrl?: URL | undefined;
}

/** The options that belong to some schemes only, and are texts. */
export type PartKey = Exclude<keyof SchemeOptions, 'toleranceMs' | 'publicUrl'>;

interface Part {
  readonly schemes: readonly string[];
  readonly values?: readonly string[];
  readonly help: string;
}

const custom = ['custom'] as const;
const withTime = ['custom', 'token'] as const;

export const schemeParts: Readonly<Record<PartKey, Part>> = {
  tokenHeader: { schemes: ['token'], help: 'header that holds the token (default: x-webhook-token)' },
  headerPrefix: {
    schemes: ['standard-webhooks'],
    help: "the vendor's own name of its headers in place of webhook, which is taken as well",
  },
  verifyToken: {
    schemes: ['meta'],
    help: 'the verify token that is typed in at the registration, whose GET is answered then',
  },
  signatureHeader: { schemes: custom, help: 'header that holds the signature' },
  signatureHeaders: {
    schemes: custom,
    values: ['one', 'several'],
    help: 'whether that header may be sent more than once: one (default) or several',
  },
  algorithm: {
    schemes: custom,
    values: algorithms,
    help: `one of ${algorithms.join(', ')} (default: hmac-sha256)`,
  },
  encoding: {
    schemes: custom,
    values: encodings,
    help: `of the signature: ${encodings.join(', ')} (default: hex)`,
  },
  prefix: { schemes: custom, help: 'before the signature, such as sha256= or v1=' },
  separator: {
    schemes: custom,
    help: 'between several values in that header: any signature among them may match',
  },
  signedContent: {
    schemes: custom,
    help:
      'of {timestamp} {nonce} {id} {method} {url} {path} {body}; \\n is a line break ' +
      '(default: {timestamp}.{body}, or {body} without a time)',
  },
  timestampHeader: {
    schemes: withTime,
    help: 'header that holds the time, which is signed where the scheme signs',
  },
  timestampPrefix: {
    schemes: custom,
    help: 'before the signed time where it stands in the signature header, such as t=',
  },
  timestampFormat: {
    schemes: withTime,
    values: timestampFormats,
    help: `of the time: ${timestampFormats.join(', ')} (default: unix)`,
  },
  nonceHeader: { schemes: withTime, help: 'header that holds the nonce or delivery id' },
  secretEncoding: {
    schemes: custom,
    values: secretEncodings,
    help: `of a shared secret: ${secretEncodings.join(', ')} (default: utf8)`,
  },
};

export const schemePartKeys = Object.keys(schemeParts) as readonly PartKey[];

/** Finds a part that this scheme would ignore, so that it would check something else than was meant. */
export const strayPart = (parts: Partial<Record<PartKey, unknown>>, scheme: string): PartKey | undefined =>
  schemePartKeys.find((key) => parts[key] !== undefined && !schemeParts[key].schemes.includes(scheme));
