import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import { ed25519Key, ed25519Sign, isEd25519 } from '../crypto/ed25519.ts';
import { encode, type Encoding } from '../crypto/encoding.ts';
import { soleHeader } from '../sole-header.ts';
import { type Algorithm, hmac, matchingKey } from '../crypto/hmac.ts';
import { type SecretEncoding, symmetricKey } from '../crypto/symmetric-key.ts';
import { type Outgoing, type Rejected, rejected, type Scheme } from '../scheme.ts';
import { parseTemplate, type Signable, type Slot, valuesOf } from './template.ts';
import { formatTimestamp, parseTimestamp, type TimestampFormat } from '../timestamp.ts';
import { parseSignatures } from './parse-signatures.ts';

/** A scheme that sends an HMAC over a template in a header, as most services do. */
export interface HmacSchemeOptions {
  readonly name: string;
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** The text before the signature, such as `sha256=`. */
  readonly prefix: string;
  /** Set where the header may hold several signatures; those with another prefix are then ignored. */
  readonly separator?: string;
  /** The text before an Ed25519 signature, where the scheme has asymmetric keys beside its secrets. */
  readonly ed25519Prefix?: string;
  /** The signed bytes: `{timestamp}.{body}`. */
  readonly content: string;
  readonly secretEncoding: SecretEncoding;
  readonly timestampHeader?: string | undefined;
  readonly timestampFormat: TimestampFormat;
  /** The header of the nonce or delivery id: `{nonce}` and `{id}` both mean its value. */
  readonly nonceHeader?: string | undefined;
  /** The form of a nonce or id, where the scheme restricts it; default: anything. */
  readonly noncePattern?: RegExp;
  readonly toleranceMs: number;
}

/** Throws a `ConfigError` for options that would check less than they seem to. */
export function hmacScheme(options: HmacSchemeOptions): Scheme {
  const template = parseTemplate(options.content);
  rejectUnsigned(options, template.slots);
  const { name, algorithm, timestampHeader, timestampFormat, nonceHeader } = options;
  return {
    name,
    credentialHeaders: [options.signatureHeader.toLowerCase()],
    toleranceMs: timestampHeader === undefined ? undefined : options.toleranceMs,
    key: (secret) =>
      options.ed25519Prefix !== undefined && isEd25519(secret)
        ? ed25519Key(secret)
        : symmetricKey(secret, options.secretEncoding),

    authenticate(delivery, keys) {
      const signatures = parseSignatures(options, delivery);
      if ('ok' in signatures) return signatures;
      const stamp = optionalHeader(delivery, timestampHeader, 'missing_timestamp');
      if (!stamp.ok) return stamp;
      const timestamp = parseTimestamp(stamp.value, timestampFormat);
      if (timestampHeader !== undefined && timestamp === undefined) {
        const detail = `the header ${timestampHeader} is not a time in the form '${timestampFormat}'`;
        return rejected('malformed_timestamp', detail);
      }
      const nonce = optionalHeader(delivery, nonceHeader, 'missing_nonce');
      if (!nonce.ok) return nonce;
      if (options.noncePattern?.test(nonce.value) === false) {
        return rejected('malformed_credential', `the header ${nonceHeader ?? ''} holds what no id may hold`);
      }
      const signed = template.fill(valuesOf(delivery, stamp.value, nonce.value));
      const key = matchingKey(algorithm, keys, signed, signatures);
      if (key === -1) {
        return rejected('wrong_credential', `the signature in ${options.signatureHeader} does not match`);
      }
      return { ok: true, key, timestamp, nonce: nonceHeader === undefined ? undefined : nonce.value };
    },

    sign(message, key, now) {
      const stamp = formatTimestamp(now, timestampFormat);
      const signed = template.fill(valuesOf(signableOf(message), stamp, message.id));
      const signature =
        key.material.type === 'secret'
          ? options.prefix + encode(hmac(algorithm, key, signed), options.encoding)
          : (options.ed25519Prefix ?? '') + encode(ed25519Sign(key, signed), options.encoding);
      const headers: [string, string][] = [];
      if (nonceHeader !== undefined) headers.push([nonceHeader, message.id]);
      if (timestampHeader !== undefined) headers.push([timestampHeader, stamp]);
      headers.push([options.signatureHeader, signature]);
      return headers;
    },
  };
}

/** A time or nonce that is not signed proves nothing: an attacker who replays a delivery can write a new one. */
function rejectUnsigned(options: HmacSchemeOptions, slots: ReadonlySet<Slot>): void {
  const named = { timestamp: options.timestampHeader, nonce: options.nonceHeader };
  const used = { timestamp: slots.has('timestamp'), nonce: slots.has('nonce') || slots.has('id') };
  for (const what of ['timestamp', 'nonce'] as const) {
    if (used[what] && named[what] === undefined) {
      throw new ConfigError(`the signed content holds {${what}}, but no header is named that carries it`, {
        hint: `name it with --${what}-header`,
      });
    }
    if (!used[what] && named[what] !== undefined) {
      throw new ConfigError(`the ${what} header is not part of the signed content, so it proves nothing`, {
        hint: `add {${what}} to --signed-content, or leave out --${what}-header`,
      });
    }
  }
}

function optionalHeader(
  delivery: Delivery,
  name: string | undefined,
  absent: 'missing_timestamp' | 'missing_nonce',
): { ok: true; value: string } | Rejected {
  return name === undefined ? { ok: true, value: '' } : soleHeader(delivery, name, absent);
}

function signableOf(message: Outgoing): Signable {
  const { pathname, search } = new URL(message.url);
  return { method: message.method, url: message.url, path: pathname + search, body: message.body };
}
