import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '../../../src/secret.ts';
import type { Key, Scheme } from '../../../src/webhook/scheme.ts';
import { schemeNames } from '../../../src/webhook/vendor-presets.ts';
import type { SchemeOptions } from '../../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';

export interface Case {
  readonly name: string;
  readonly scheme: Scheme;
  readonly secret: string;
  readonly other: string;
  /** The flags that choose it, but for its secret. */
  readonly flags: readonly string[];
  /** False for a bare token, which vouches for the sender only. */
  readonly coversBody: boolean;
}

const text = { secret: 'correct horse battery staple', other: 'incorrect horse battery staple' };
const whsec = {
  secret: `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`,
  other: `whsec_${Buffer.from('76543210fedcba9876543210').toString('base64')}`,
};

const pem = (make: () => { privateKey: { export(options: object): string | Buffer } }): string =>
  make().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsa = (): string => pem(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
const p256 = (): string => pem(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const ed25519 = (): string => pem(() => generateKeyPairSync('ed25519'));

const whsk = (fill: number): string => `whsk_${Buffer.alloc(32, fill).toString('base64')}`;

function make(label: string, secrets: { secret: string; other: string }, options: SchemeOptions = {}): Case {
  const name = label.split(' ')[0] ?? '';
  return {
    name: label,
    scheme: schemeNamed(name, options),
    ...secrets,
    flags: ['--scheme', JSON.stringify({ scheme: name, ...options })],
    coversBody: name !== 'token',
  };
}

const signed = { timestampHeader: 'X-Time', nonceHeader: 'X-Nonce', signatureHeader: 'X-Signature' };

/** Every scheme with each of the forms that it can take. */
export const cases: readonly Case[] = [
  make('token', text),
  make('standard-webhooks', whsec),
  make('standard-webhooks v1a', { secret: whsk(1), other: whsk(2) }),
  make('svix', whsec),
  make('stripe', text),
  make('github', text),
  make('slack', text),
  make('shopify', text),
  make('svix v1a', { secret: whsk(1), other: whsk(2) }),
  ...['calendly', 'hubspot', 'intercom', 'linear', 'meta', 'mux', 'paddle', 'square', 'twitch'].map((name) =>
    make(name, text),
  ),
  ...['typeform', 'workos', 'zendesk'].map((name) => make(name, text)),
  make('discord', { secret: ed25519(), other: ed25519() }),
  make('sendgrid', { secret: p256(), other: p256() }),
  make('custom list', text, {
    signatureHeader: 'X-Signature',
    timestampPrefix: 'time=',
    prefix: 'sig=',
    separator: ';',
    encoding: 'hex-upper',
    algorithm: 'hmac-sha512',
  }),
  make(
    'custom ed25519',
    { secret: ed25519(), other: ed25519() },
    {
      signatureHeader: 'X-Signature',
      algorithm: 'ed25519',
      encoding: 'base64url',
      signedContent: '{path}.{body}',
    },
  ),
  make(
    'custom p256',
    { secret: p256(), other: p256() },
    {
      signatureHeader: 'X-Signature',
      algorithm: 'ecdsa-p256-sha256',
    },
  ),
  make(
    'custom rsa',
    { secret: rsa(), other: rsa() },
    {
      signatureHeader: 'X-Signature',
      algorithm: 'rsa-v1_5-sha256',
      encoding: 'base64',
    },
  ),
  make('custom body', text, { signatureHeader: 'X-Signature' }),
  make('custom sha512', text, {
    signatureHeader: 'X-Signature',
    algorithm: 'hmac-sha512',
    encoding: 'base64url',
  }),
  make('custom sha1', text, { signatureHeader: 'X-Signature', algorithm: 'hmac-sha1', prefix: 'sha1=' }),
  make('custom everything', whsec, {
    ...signed,
    signedContent: '{method} {url} {path}\n{timestamp}.{nonce}.{id}.{body}',
    timestampFormat: 'milliseconds',
    encoding: 'base64',
    secretEncoding: 'whsec',
  }),
  make('custom iso', text, {
    ...signed,
    signedContent: '{timestamp}\n{nonce}\n{body}',
    timestampFormat: 'iso',
  }),
];

/** A scheme that is not in the table would go untested. */
export const untested = schemeNames.filter((name) => !cases.some((one) => one.name.split(' ')[0] === name));

export const keyOf = (scheme: Scheme, secret: string): Key => scheme.key(new Secret(secret));
