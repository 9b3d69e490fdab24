/** With `-der`, the ECDSA signature is ASN.1 instead of r and s alone. */
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

export const encodings = ['hex', 'hex-upper', 'base64', 'base64url'] as const;

export type Encoding = (typeof encodings)[number];

const secretEncodings = ['utf8', 'hex', 'base64', 'whsec'] as const;

/** `whsec` is base64 after an optional `whsec_` (Standard Webhooks). */
export type SecretEncoding = (typeof secretEncodings)[number];

export const timestampFormats = ['unix', 'milliseconds', 'iso'] as const;

export type TimestampFormat = (typeof timestampFormats)[number];

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
  /** Default `unix`. */
  readonly timestampFormat?: TimestampFormat | undefined;
  readonly nonceHeader?: string | undefined;
  /** Default `utf8`. */
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

export type PartKey = Exclude<keyof SchemeOptions, 'toleranceMs' | 'publicUrl'>;

interface Part {
  readonly of: readonly string[];
  readonly values?: readonly string[];
  readonly help: string;
}

const custom = ['custom'] as const;
const timed = ['custom', 'token'] as const;

export const schemeParts: Readonly<Record<PartKey, Part>> = {
  tokenHeader: { of: ['token'], help: 'header that holds the token (default: x-webhook-token)' },
  headerPrefix: {
    of: ['standard-webhooks'],
    help: "the vendor's own name of its headers in place of webhook, which is taken as well",
  },
  verifyToken: {
    of: ['meta'],
    help: 'the verify token that is typed in at the registration, whose GET is answered then',
  },
  signatureHeader: { of: custom, help: 'header that holds the signature' },
  signatureHeaders: {
    of: custom,
    values: ['one', 'several'],
    help: 'whether that header may be sent more than once: one (default) or several',
  },
  algorithm: {
    of: custom,
    values: algorithms,
    help: `one of ${algorithms.join(', ')} (default: hmac-sha256)`,
  },
  encoding: {
    of: custom,
    values: encodings,
    help: `of the signature: ${encodings.join(', ')} (default: hex)`,
  },
  prefix: { of: custom, help: 'before the signature, such as sha256= or v1=' },
  separator: {
    of: custom,
    help: 'between several values in that header: any signature among them may match',
  },
  signedContent: {
    of: custom,
    help:
      'of {timestamp} {nonce} {id} {method} {url} {path} {body}; \\n is a line break ' +
      '(default: {timestamp}.{body}, or {body} without a time)',
  },
  timestampHeader: { of: timed, help: 'header that holds the time, which is signed where the scheme signs' },
  timestampPrefix: {
    of: custom,
    help: 'before the signed time where it stands in the signature header, such as t=',
  },
  timestampFormat: {
    of: timed,
    values: timestampFormats,
    help: `of the time: ${timestampFormats.join(', ')} (default: unix)`,
  },
  nonceHeader: { of: timed, help: 'header that holds the nonce or delivery id' },
  secretEncoding: {
    of: custom,
    values: secretEncodings,
    help: `of a shared secret: ${secretEncodings.join(', ')} (default: utf8)`,
  },
};

export const schemePartKeys = Object.keys(schemeParts) as readonly PartKey[];

/** Finds a part that this scheme would ignore, so that it would check something else than was meant. */
export const strayPart = (parts: Partial<Record<PartKey, unknown>>, scheme: string): PartKey | undefined =>
  schemePartKeys.find((key) => parts[key] !== undefined && !schemeParts[key].of.includes(scheme));
