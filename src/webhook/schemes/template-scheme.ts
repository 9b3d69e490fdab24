import { ConfigError } from '../../errors.ts';
import { type Algorithm, keyKinds, kindOf } from '../crypto/algorithm.ts';
import { encode, type Encoding } from '../crypto/encoding.ts';
import { matchingKey, signatureOf } from '../crypto/signature.ts';
import { type SecretEncoding, symmetricKey } from '../crypto/symmetric-key.ts';
import type { Secret } from '../../secret.ts';
import type { Delivery } from '../delivery.ts';
import { type Key, type Rejected, rejected, type Scheme } from '../scheme.ts';
import { soleHeader } from '../single-header.ts';
import { formatTimestamp, parseTimestamp, type TimestampFormat } from '../timestamp.ts';
import { rejectUnsigned } from './reject-unsigned.ts';
import { type SignatureHeaderFormat, signatureHeaderReader } from './signature-header.ts';
import { parseTemplate, valuesOf } from './template.ts';

/** A scheme that sends a signature over a template in a header, as most services do. */
export interface TemplateSchemeOptions extends Omit<
  SignatureHeaderFormat,
  'algorithm' | 'encoding' | 'prefix'
> {
  readonly name: string;
  /** Default `hmac-sha256`. */
  readonly algorithm?: Algorithm | undefined;
  /** Of the signature. Default `hex`. */
  readonly encoding?: Encoding | undefined;
  /** The text before the signature, such as `sha256=`. Default none. */
  readonly prefix?: string | undefined;
  /** The signed bytes: `{timestamp}.{body}`. */
  readonly content: string;
  /** Default `utf8`. */
  readonly secretEncoding?: SecretEncoding | undefined;
  readonly timestampHeader?: string | undefined;
  /** Default `unix`. */
  readonly timestampFormat?: TimestampFormat | undefined;
  /** The header of the nonce or delivery id: `{nonce}` and `{id}` both mean its value. */
  readonly nonceHeader?: string | undefined;
  /** The form of a nonce or id, where the scheme restricts it; default: anything. */
  readonly noncePattern?: RegExp | undefined;
  /** In milliseconds. */
  readonly toleranceMs: number;
}

/** Reads the public or private key of an asymmetric algorithm: `asymmetricKey`. */
export type ReadPair = (secret: Secret, algorithm: Algorithm) => Key;

/** The algorithm of a secret that is a public or private key; undefined for a shared secret. */
export function pairAlgorithm(
  { algorithm = 'hmac-sha256', ed25519Prefix }: Pick<TemplateSchemeOptions, 'algorithm' | 'ed25519Prefix'>,
  secret: Secret,
): Algorithm | undefined {
  if (!keyKinds[algorithm].includes('secret')) return algorithm;
  const isText = ed25519Prefix !== undefined && secret.revealBytes() === undefined;
  return isText && /^wh[sp]k_/.test(secret.reveal()) ? 'ed25519' : undefined;
}

/** Throws a `ConfigError` for options that would check less than they seem to. */
export function templateScheme(options: TemplateSchemeOptions, readPair: ReadPair): Scheme {
  const { algorithm = 'hmac-sha256', encoding = 'hex', prefix = '', timestampFormat = 'unix' } = options;
  const { name, signatureHeader, timestampHeader, timestampPrefix, nonceHeader, separator } = options;
  const template = parseTemplate(options.content);
  rejectUnsigned(options, template.slots);
  const isTimed = template.slots.has('timestamp');
  const readSignatures = signatureHeaderReader({ ...options, algorithm, encoding, prefix });
  const timeSource =
    timestampHeader === undefined
      ? `${timestampPrefix ?? ''} in the header ${signatureHeader}`
      : `the header ${timestampHeader}`;
  return {
    name,
    credentialHeaders: [signatureHeader],
    toleranceMs: isTimed ? options.toleranceMs : undefined,
    signsUrl: template.slots.has('url') || template.slots.has('decodedUrl') || template.slots.has('path'),
    key: (secret) => {
      const pair = pairAlgorithm(options, secret);
      return pair === undefined
        ? symmetricKey(secret, options.secretEncoding ?? 'utf8')
        : readPair(secret, pair);
    },

    authenticate(delivery, keys) {
      const header = readSignatures(delivery);
      if ('ok' in header) return header;
      const stamp = isTimed ? timeOf(delivery, header.timestamp) : { ok: true as const, value: '' };
      if (!stamp.ok) return stamp;
      const timestamp = parseTimestamp(stamp.value, timestampFormat);
      if (isTimed && timestamp === undefined) {
        return rejected(
          'malformed_timestamp',
          `${timeSource} is not a time in the form '${timestampFormat}'`,
        );
      }
      const nonce = nonceOf(delivery);
      if (!nonce.ok) return nonce;
      const signed = template.fill(valuesOf(delivery, stamp.value, nonce.value));
      const key = matchingKey(keys, signed, header.signatures);
      if (key === -1) {
        return rejected('wrong_credential', `the signature in ${signatureHeader} does not match`);
      }
      return { ok: true, key, timestamp, nonce: nonceHeader === undefined ? undefined : nonce.value };
    },

    sign(message, key, now) {
      const stamp = formatTimestamp(now, timestampFormat);
      const { method, url, body } = message;
      // Taking a URL apart costs as much as a signature.
      const path = template.slots.has('path') ? pathAndQuery(url) : '';
      const signed = template.fill(valuesOf({ method, url, path, body }, stamp, message.id));
      const signature = prefixed(key, (own) => encode(signatureOf(own, key, signed), encoding));
      const headers: [string, string][] = [];
      if (nonceHeader !== undefined) headers.push([nonceHeader, message.id]);
      if (timestampHeader !== undefined) headers.push([timestampHeader, stamp]);
      const values = timestampPrefix === undefined ? [signature] : [timestampPrefix + stamp, signature];
      headers.push([signatureHeader, values.join(separator)]);
      return headers;
    },
  };

  function timeOf(delivery: Delivery, inSignature: string | undefined): Found {
    if (timestampHeader !== undefined) return soleHeader(delivery, timestampHeader, 'missing_timestamp');
    if (inSignature !== undefined) return { ok: true, value: inSignature };
    return rejected('missing_timestamp', `the header ${signatureHeader} has no ${timestampPrefix ?? ''}`);
  }

  function nonceOf(delivery: Delivery): Found {
    if (nonceHeader === undefined) return { ok: true, value: '' };
    const nonce = soleHeader(delivery, nonceHeader, 'missing_nonce');
    if (!nonce.ok || options.noncePattern?.test(nonce.value) !== false) return nonce;
    return rejected('malformed_credential', `the header ${nonceHeader} holds what no id may hold`);
  }

  function prefixed(key: Key, sign: (algorithm: Algorithm) => string): string {
    const isOwn = keyKinds[algorithm].includes(kindOf(key.material) ?? 'secret');
    if (isOwn) return prefix + sign(algorithm);
    if (options.ed25519Prefix !== undefined) return options.ed25519Prefix + sign('ed25519');
    throw new ConfigError(`the key does not belong to the algorithm ${algorithm}`);
  }
}

type Found = { readonly ok: true; readonly value: string } | Rejected;

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
