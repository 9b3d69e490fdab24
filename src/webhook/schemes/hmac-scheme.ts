import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import { ed25519Key, ed25519Sign, isEd25519 } from '../ed25519.ts';
import { encode, type Encoding } from '../encoding.ts';
import { soleHeader } from '../headers.ts';
import { type Algorithm, hmac, matchingKey } from '../hmac.ts';
import { type SecretEncoding, symmetricKey } from '../key.ts';
import { type Outgoing, type Rejected, rejected, type Scheme } from '../scheme.ts';
import { parseTemplate, type Signable, type Slot, valuesOf } from '../template.ts';
import { formatTimestamp, parseTimestamp, type TimestampFormat } from '../timestamp.ts';
import { givenSignatures } from './parse-signatures.ts';

/** An HMAC over a template, in a header: what most services' schemes come down to. */
export interface HmacRecipe {
  readonly name: string;
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** What stands before the signature, such as `sha256=`. */
  readonly prefix: string;
  /** Set where the header may hold several signatures; those with another prefix are then passed over. */
  readonly separator?: string;
  /** What stands before an Ed25519 signature, where the scheme knows asymmetric keys beside its secrets. */
  readonly ed25519Prefix?: string;
  /** The signed bytes: `{timestamp}.{body}`. */
  readonly content: string;
  readonly secretEncoding: SecretEncoding;
  readonly timestampHeader?: string | undefined;
  readonly timestampFormat: TimestampFormat;
  /** Of the nonce or delivery id: `{nonce}` and `{id}` both mean it. */
  readonly nonceHeader?: string | undefined;
  /** What a nonce or id may look like, where the scheme restricts it; default: anything. */
  readonly noncePattern?: RegExp;
  readonly toleranceMs: number;
}

/** Throws a `ConfigError` for a recipe that would check less than it seems to. */
export function hmacScheme(recipe: HmacRecipe): Scheme {
  const template = parseTemplate(recipe.content);
  refuseUnsigned(recipe, template.slots);
  const { name, algorithm, timestampHeader, timestampFormat, nonceHeader } = recipe;
  return {
    name,
    credentialHeaders: [recipe.signatureHeader.toLowerCase()],
    toleranceMs: timestampHeader === undefined ? undefined : recipe.toleranceMs,
    key: (secret) =>
      recipe.ed25519Prefix !== undefined && isEd25519(secret)
        ? ed25519Key(secret)
        : symmetricKey(secret, recipe.secretEncoding),

    authenticate(delivery, keys) {
      const given = givenSignatures(recipe, delivery);
      if ('ok' in given) return given;
      const stamp = optionalHeader(delivery, timestampHeader, 'missing_timestamp');
      if (!stamp.ok) return stamp;
      const timestamp = parseTimestamp(stamp.value, timestampFormat);
      if (timestampHeader !== undefined && timestamp === undefined) {
        const detail = `the header ${timestampHeader} is not a time in the form '${timestampFormat}'`;
        return rejected('malformed_timestamp', detail);
      }
      const nonce = optionalHeader(delivery, nonceHeader, 'missing_nonce');
      if (!nonce.ok) return nonce;
      if (recipe.noncePattern?.test(nonce.value) === false) {
        return rejected('malformed_credential', `the header ${nonceHeader ?? ''} holds what no id may hold`);
      }
      const signed = template.fill(valuesOf(delivery, stamp.value, nonce.value));
      const key = matchingKey(algorithm, keys, signed, given);
      if (key === -1) {
        return rejected('wrong_credential', `the signature in ${recipe.signatureHeader} does not match`);
      }
      return { ok: true, key, timestamp, nonce: nonceHeader === undefined ? undefined : nonce.value };
    },

    sign(message, key, now) {
      const stamp = formatTimestamp(now, timestampFormat);
      const signed = template.fill(valuesOf(sent(message), stamp, message.id));
      const signature =
        key.material.type === 'secret'
          ? recipe.prefix + encode(hmac(algorithm, key, signed), recipe.encoding)
          : (recipe.ed25519Prefix ?? '') + encode(ed25519Sign(key, signed), recipe.encoding);
      const headers: [string, string][] = [];
      if (nonceHeader !== undefined) headers.push([nonceHeader, message.id]);
      if (timestampHeader !== undefined) headers.push([timestampHeader, stamp]);
      headers.push([recipe.signatureHeader, signature]);
      return headers;
    },
  };
}

/** An unsigned time or nonce proves nothing: whoever replays a delivery would write a new one. */
function refuseUnsigned(recipe: HmacRecipe, slots: ReadonlySet<Slot>): void {
  const named = { timestamp: recipe.timestampHeader, nonce: recipe.nonceHeader };
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

function sent(message: Outgoing): Signable {
  const { pathname, search } = new URL(message.url);
  return { method: message.method, url: message.url, path: pathname + search, body: message.body };
}
