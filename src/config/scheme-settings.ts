/** Parts of schemes other than `custom`; each is checked as the flag of that name is, where it is used. */
export const schemeParts = {
  tokenHeader: 'header that holds the shared token (default: x-webhook-token)',
  headerPrefix: "of standard-webhooks: the vendor's own name of its headers in place of webhook",
  require: 'of rfc9421: what a signature must cover (default: method,target,digest)',
} as const;

export type SchemePartKey = keyof typeof schemeParts;

/** The parts of `--scheme custom`; each is checked as the flag of that name is, where it is used. */
export const customScheme = {
  signatureHeader: 'header that holds the signature',
  signatureHeaders: 'whether that header may be sent more than once: one (default) or several',
  algorithm: 'hmac-sha256 (default), hmac-sha512, hmac-sha1, ed25519, ecdsa-p256-sha256[-der], …',
  encoding: 'of the signature: hex (default), hex-upper, base64 or base64url',
  prefix: 'before the signature, such as sha256=',
  separator: 'between several values in the signature header',
  signedContent: 'template of {timestamp} {nonce} {id} {method} {url} {path} {body}',
  timestampHeader: 'header that holds the signed time',
  timestampPrefix: 'before the signed time where it stands in the signature header, such as t=',
  timestampFormat: 'unix (default), milliseconds or iso',
  nonceHeader: 'header that holds the signed nonce or delivery id',
  secretEncoding: 'of the secret: utf8 (default), hex, base64 or whsec',
} as const;

export type CustomSchemeKey = keyof typeof customScheme;
