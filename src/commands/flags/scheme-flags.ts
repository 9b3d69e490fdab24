import { anyText, duration, oneOf, text } from '../../config/value-types.ts';
import type { Encoding } from '../../webhook/crypto/encoding.ts';
import type { Algorithm } from '../../webhook/crypto/algorithm.ts';
import type { SecretEncoding } from '../../webhook/crypto/symmetric-key.ts';
import { schemeNames } from '../../webhook/scheme-names.ts';
import type { TimestampFormat } from '../../webhook/timestamp.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { secret } from './flag-values.ts';

// These repeat src/webhook, and their types hold the two together: help must not load the code that signs and verifies.
const algorithms = ['hmac-sha256', 'hmac-sha512', 'hmac-sha1'] as const satisfies readonly Algorithm[];
const encodings = ['hex', 'base64', 'base64url'] as const satisfies readonly Encoding[];
const secretEncodings = ['utf8', 'hex', 'base64', 'whsec'] as const satisfies readonly SecretEncoding[];
const timestampFormats = ['unix', 'milliseconds', 'iso'] as const satisfies readonly TimestampFormat[];

const everyday = {
  token: { value: 'token', type: secret, repeatable: true, help: 'shared token in x-webhook-token' },
  tokenFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  scheme: { value: 'name', type: oneOf(schemeNames) },
  secret: {
    value: 'secret',
    type: secret,
    repeatable: true,
    help: "the scheme's secret, for rfc9421 also a PEM or JWK",
  },
  secretFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  tolerance: { value: 'duration', type: duration, help: 'how far a signed time may be off', otherwise: '5m' },
  verify: { negated: true, help: 'no authentication at all' },
} satisfies Flags;

/** How deliveries are authenticated: the same on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof everyday => inGroup(heading, everyday);

/** The parts of `--scheme custom`. They stand last in a command's help: few services need them. */
export const customSchemeFlags = inGroup('For --scheme custom', {
  signatureHeader: { value: 'name', type: text, help: 'header that holds the signature' },
  algorithm: { value: 'name', type: oneOf(algorithms), otherwise: 'hmac-sha256' },
  encoding: { value: 'name', type: oneOf(encodings), help: 'of the signature', otherwise: 'hex' },
  prefix: { value: 'text', type: anyText, help: 'before the signature, such as sha256=' },
  signedContent: {
    value: 'template',
    type: text,
    help: 'of {timestamp} {nonce} {id} {method} {url} {path} {body}',
  },
  timestampHeader: { value: 'name', type: text, help: 'header that holds the signed time' },
  timestampFormat: { value: 'form', type: oneOf(timestampFormats), otherwise: 'unix' },
  nonceHeader: { value: 'name', type: text, help: 'header that holds the signed nonce or delivery id' },
  secretEncoding: { value: 'name', type: oneOf(secretEncodings), help: 'of the secret', otherwise: 'utf8' },
}) satisfies Flags;

export type SchemeOptions = OptionsOf<typeof everyday> & OptionsOf<typeof customSchemeFlags>;
