import type { Algorithm, CustomOptions, Encoding } from '../scheme-options.ts';
import type { Secret } from '../../secret.ts';
import { hasLengthOf, kindOf, signatureForm, takesKey } from '../crypto/algorithms.ts';
import { asymmetricKey, symmetricKey } from '../crypto/read-key.ts';
import { decode, encode, matchingKey, type Signature, signatureOf } from '../crypto/signature.ts';
import { type Delivery, headerValues, soleHeader, rejectUnlessSole } from '../delivery.ts';
import {
  bodyNotSigned,
  keyNotOfAlgorithm,
  sentNotSigned,
  signedNotSent,
  twoTimeSources,
  unknownSlot,
} from '../errors.ts';
import type { Key, Scheme } from '../scheme.ts';
import { type Rejection, rejection } from '../delivery-answer.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';

type SharedOption =
  | ('algorithm' | 'encoding' | 'prefix' | 'secretEncoding')
  | ('timestampHeader' | 'timestampFormat' | 'nonceHeader');

export interface TemplateSchemeOptions
  extends Omit<SignatureHeaderFormat, SharedOption>, Pick<CustomOptions, SharedOption> {
  readonly name: string;
  /**
   * The signed bytes, such as `{timestamp}.{body}`. `{nonce}` and `{id}` both mean the value of `nonceHeader`.
   */
  readonly content: string;
  readonly noncePattern?: RegExp | undefined;
  readonly toleranceMs: number;
}

function pairAlgorithm(
  { algorithm = 'hmac-sha256', ed25519Prefix }: Pick<TemplateSchemeOptions, 'algorithm' | 'ed25519Prefix'>,
  secret: Secret,
): Algorithm | undefined {
  if (!takesKey(algorithm, 'secret')) return algorithm;
  const isText = ed25519Prefix !== undefined && secret.revealBytes() === undefined;
  return isText && /^wh[sp]k_/.test(secret.reveal()) ? 'ed25519' : undefined;
}

export function templateScheme(options: TemplateSchemeOptions): Scheme {
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
    recipe: options,
    credentialHeaders: [signatureHeader],
    plainHeaders: [nonceHeader, timestampHeader].filter((header) => header !== undefined),
    toleranceMs: isTimed ? options.toleranceMs : undefined,
    signsUrl: template.slots.has('url') || template.slots.has('decodedUrl') || template.slots.has('path'),
    key: (secret) => {
      const pair = pairAlgorithm(options, secret);
      return pair === undefined
        ? symmetricKey(secret, options.secretEncoding ?? 'utf8')
        : asymmetricKey(secret, pair);
    },

    authenticate(delivery, keys) {
      const header = readSignatures(delivery);
      if ('ok' in header) return header;
      const stamp = isTimed ? timeOf(delivery, header.timestamp) : { ok: true as const, value: '' };
      if (!stamp.ok) return stamp;
      const timestamp = isTimed ? parseTimestamp(stamp.value, timestampFormat) : undefined;
      if (isTimed && timestamp === undefined) {
        return rejection(
          'malformed_timestamp',
          `${timeSource} is not a time in the form '${timestampFormat}'`,
        );
      }
      const nonce = nonceOf(delivery);
      if (!nonce.ok) return nonce;
      const signed = template.fill(delivery, stamp.value, nonce.value);
      const key = matchingKey(keys, signed, header.signatures);
      if (key === -1) {
        return rejection('wrong_credential', `the signature in ${signatureHeader} does not match`);
      }
      return { ok: true, key, timestamp, nonce: nonceHeader === undefined ? undefined : nonce.value };
    },

    sign(message, key, now) {
      const stamp = formatTimestamp(now, timestampFormat);
      const { method, url, body } = message;
      // Parsing a URL costs as much as a signature.
      const path = template.slots.has('path') ? pathAndQuery(url) : '';
      const signed = template.fill({ method, url, path, body }, stamp, message.id);
      const signature = prefixed(key, (keyAlgorithm) =>
        encode(signatureOf(keyAlgorithm, key, signed), encoding),
      );
      const headers: [string, string][] = [];
      if (nonceHeader !== undefined) headers.push([nonceHeader, message.id]);
      if (timestampHeader !== undefined) headers.push([timestampHeader, stamp]);
      const values = timestampPrefix === undefined ? [signature] : [timestampPrefix + stamp, signature];
      headers.push([signatureHeader, values.join(separator)]);
      return headers;
    },
  };

  function timeOf(delivery: Delivery, inSignature: string | undefined): HeaderValue {
    if (timestampHeader !== undefined) return soleHeader(delivery, timestampHeader, 'missing_timestamp');
    if (inSignature !== undefined) return { ok: true, value: inSignature };
    return rejection('missing_timestamp', `the header ${signatureHeader} has no ${timestampPrefix ?? ''}`);
  }

  function nonceOf(delivery: Delivery): HeaderValue {
    if (nonceHeader === undefined) return { ok: true, value: '' };
    const nonce = soleHeader(delivery, nonceHeader, 'missing_nonce');
    if (!nonce.ok || options.noncePattern?.test(nonce.value) !== false) return nonce;
    return rejection('malformed_credential', `the header ${nonceHeader} holds what no id may hold`);
  }

  function prefixed(key: Key, sign: (algorithm: Algorithm) => string): string {
    const fitsAlgorithm = takesKey(algorithm, kindOf(key.material) ?? 'secret');
    if (fitsAlgorithm) return prefix + sign(algorithm);
    if (options.ed25519Prefix !== undefined) return options.ed25519Prefix + sign('ed25519');
    throw keyNotOfAlgorithm(algorithm);
  }
}

type HeaderValue = { readonly ok: true; readonly value: string } | Rejection;

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const slots = ['timestamp', 'nonce', 'id', 'method', 'url', 'decodedUrl', 'path', 'body'] as const;

type Slot = (typeof slots)[number];

type Piece = { readonly literal: Buffer } | { readonly slot: Slot };

export interface Template {
  readonly slots: ReadonlySet<Slot>;
  /**
   * The signed bytes, in order. Node decodes header values and request lines as Latin-1, so `timestamp` and
   * `id` become the bytes that were sent.
   */
  fill(request: Signable, timestamp: string, id: string): readonly Uint8Array[];
}

export function parseTemplate(text: string): Template {
  const pieces = text
    .split(/(\{[^{}]*\})/)
    .filter((piece) => piece !== '')
    .map(pieceOf);
  const used = new Set(pieces.flatMap((piece) => ('slot' in piece ? [piece.slot] : [])));
  if (!used.has('body')) throw bodyNotSigned(text);
  return {
    slots: used,
    fill(request, timestamp, id) {
      const parts: Uint8Array[] = [];
      for (const piece of pieces) {
        if ('literal' in piece) parts.push(piece.literal);
        else if (piece.slot === 'body') parts.push(request.body);
        else parts.push(Buffer.from(textOf(piece.slot, request, timestamp, id), 'latin1'));
      }
      return parts;
    },
  };
}

function pieceOf(text: string): Piece {
  if (!text.startsWith('{')) return { literal: Buffer.from(text) };
  const slot = slots.find((name) => `{${name}}` === text);
  if (slot !== undefined) return { slot };
  throw unknownSlot(text, slots);
}

type Signable = Pick<Delivery, 'method' | 'url' | 'path' | 'body'>;

function textOf(slot: Exclude<Slot, 'body'>, request: Signable, timestamp: string, id: string): string {
  if (slot === 'timestamp') return timestamp;
  if (slot === 'decodedUrl') return decodeDelimiters(request.url);
  return slot === 'nonce' || slot === 'id' ? id : request[slot];
}

/** HubSpot signs the URL with the delimiters of RFC 3986 decoded; every other percent-encoding stays. */
const decodeDelimiters = (url: string): string =>
  url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (encoded) => decodeURIComponent(encoded));

/**
 * Throws a `ConfigError` where a time or nonce is sent but not signed, or signed but not sent. An unsigned one
 * proves nothing: an attacker who replays a delivery can write a new one.
 */
function rejectUnsigned(options: TemplateSchemeOptions, slots: ReadonlySet<Slot>): void {
  const { timestampHeader, timestampPrefix, nonceHeader } = options;
  if (timestampHeader !== undefined && timestampPrefix !== undefined) {
    throw twoTimeSources();
  }
  requireBoth('timestamp', slots.has('timestamp'), timestampHeader ?? timestampPrefix);
  requireBoth('nonce', slots.has('nonce') || slots.has('id'), nonceHeader);
}

function requireBoth(part: 'timestamp' | 'nonce', isSigned: boolean, source: string | undefined): void {
  if (isSigned && source === undefined) throw signedNotSent(part);
  if (!isSigned && source !== undefined) throw sentNotSigned(part);
}

export interface SignatureHeaderFormat {
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  readonly prefix: string;
  /** Allows several values in the header; values with another prefix are then ignored. */
  readonly separator?: string | undefined;
  readonly timestampPrefix?: string | undefined;
  /** The text before an Ed25519 signature, where the scheme has such keys beside its secrets. */
  readonly ed25519Prefix?: string | undefined;
  readonly repeated?: boolean | undefined;
}

interface SignatureHeader {
  readonly signatures: readonly Signature[];
  readonly timestamp: string | undefined;
}

/** A rotation of keys needs fewer. Without a limit, one request could cause thousands of comparisons. */
const maxSignatures = 16;

/**
 * Decodes strictly. An unreadable signature is ignored when there is another one: a sender may add signatures
 * of a kind that is not known here.
 */
export function signatureHeaderReader(
  format: SignatureHeaderFormat,
): (delivery: Delivery) => SignatureHeader | Rejection {
  const { signatureHeader: header, prefix, algorithm, encoding, timestampPrefix, ed25519Prefix } = format;
  const entriesOf = entryReader(format);
  return (delivery) => {
    const entries = entriesOf(delivery);
    if ('ok' in entries) return entries;
    if (entries.length > maxSignatures) {
      return rejection('malformed_credential', `the header ${header} holds too many signatures`);
    }
    const stamps =
      timestampPrefix === undefined ? [] : entries.filter((entry) => entry.startsWith(timestampPrefix));
    if (stamps.length > 1) {
      return rejection('repeated_credential', `the header ${header} has two ${timestampPrefix ?? ''}`);
    }
    const signatures = signaturesIn(entries, prefix, algorithm, encoding);
    if (ed25519Prefix !== undefined)
      signatures.push(...signaturesIn(entries, ed25519Prefix, 'ed25519', encoding));
    if (signatures.length > 0) return { signatures, timestamp: stamps[0]?.slice(timestampPrefix?.length) };
    return rejection(
      'malformed_credential',
      entries.every((entry) => !entry.startsWith(prefix))
        ? `the header ${header} has no signature '${prefix}…'`
        : `the signature in ${header} is not ${signatureForm(algorithm)} in ${encoding.startsWith('hex') ? 'hex' : encoding}`,
    );
  };
}

function signaturesIn(
  entries: readonly string[],
  prefix: string,
  algorithm: Algorithm,
  encoding: Encoding,
): Signature[] {
  const signatures: Signature[] = [];
  for (const entry of entries) {
    const bytes = entry.startsWith(prefix) ? decode(entry.slice(prefix.length), encoding) : undefined;
    if (bytes !== undefined && hasLengthOf(algorithm, bytes)) signatures.push({ algorithm, bytes });
  }
  return signatures;
}

function entryReader(format: SignatureHeaderFormat): (delivery: Delivery) => readonly string[] | Rejection {
  const { signatureHeader: header, repeated = false } = format;
  // A proxy may join repeated headers by commas (RFC 9110, section 5.3).
  const separator = format.separator ?? (repeated ? ',' : undefined);
  const isJoined = repeated ? (): boolean => false : joinedHeaderTest(format);
  return (delivery) => {
    const values = headerValues(delivery, header);
    const problem = repeated && values.length > 1 ? undefined : rejectUnlessSole(values, header);
    if (problem !== undefined) return problem;
    if (values.some(isJoined)) {
      return rejection('repeated_credential', `the header ${header} holds more than one value`);
    }
    if (separator === undefined) return values;
    // Some senders write blanks around the separator, and some do not.
    return values.flatMap((value) => value.split(separator.trim() || separator)).map((entry) => entry.trim());
  };
}

/**
 * Recognizes one value that a proxy made of two headers. Where a comma separates the entries of the header
 * itself, only a second time shows it.
 */
function joinedHeaderTest(format: SignatureHeaderFormat): (value: string) => boolean {
  const { separator, prefix, timestampPrefix, ed25519Prefix } = format;
  if (separator === undefined) {
    return (value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value).includes(',');
  }
  if (separator.includes(',')) return () => false;
  const starts = timestampPrefix === undefined ? [prefix, ed25519Prefix ?? prefix] : [timestampPrefix];
  const escaped = starts.map((start) => start.replace(/[^A-Za-z0-9]/g, String.raw`\$&`));
  const joined = new RegExp(String.raw`,\s*(?:${escaped.join('|')})`);
  return (value) => joined.test(value);
}
