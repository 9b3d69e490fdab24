import type { Algorithm, CustomOptions, Encoding } from '../scheme-options.ts';
import type { Secret } from '../../secret.ts';
import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import {
  takesKey,
  kindOf,
  matchingKey,
  signatureOf,
  hasLengthOf,
  type Signature,
  signatureForm,
  encode,
  symmetricKey,
  decode,
} from '../crypto/signature.ts';
import { type Delivery, headerValues, soleHeader, problemOfSole } from '../delivery.ts';
import {
  bodyNotSigned,
  keyNotOfAlgorithm,
  sentNotSigned,
  signedNotSent,
  twoTimeSources,
  unknownSlot,
} from '../errors.ts';
import type { Key, Scheme } from '../scheme.ts';
import { type Rejected, rejected } from '../delivery-answer.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';

type SharedOption =
  | ('algorithm' | 'encoding' | 'prefix' | 'secretEncoding')
  | ('timestampHeader' | 'timestampFormat' | 'nonceHeader');

/** A scheme that sends a signature over a template in a header, as most services do. */
export interface TemplateSchemeOptions
  extends Omit<SignatureHeaderFormat, SharedOption>, Pick<CustomOptions, SharedOption> {
  readonly name: string;
  /** The signed bytes: `{timestamp}.{body}`; `{nonce}` and `{id}` both mean the value of `nonceHeader`. */
  readonly content: string;
  /** The form of a nonce or id, where the scheme restricts it; default: anything. */
  readonly noncePattern?: RegExp | undefined;
  /** In milliseconds. */
  readonly toleranceMs: number;
}

/** The algorithm of a secret that is a public or private key; undefined for a shared secret. */
function pairAlgorithm(
  { algorithm = 'hmac-sha256', ed25519Prefix }: Pick<TemplateSchemeOptions, 'algorithm' | 'ed25519Prefix'>,
  secret: Secret,
): Algorithm | undefined {
  if (!takesKey(algorithm, 'secret')) return algorithm;
  const isText = ed25519Prefix !== undefined && secret.revealBytes() === undefined;
  return isText && /^wh[sp]k_/.test(secret.reveal()) ? 'ed25519' : undefined;
}

/** Throws a `ConfigError` for options that would check less than they seem to. */
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
        return rejected(
          'malformed_timestamp',
          `${timeSource} is not a time in the form '${timestampFormat}'`,
        );
      }
      const nonce = nonceOf(delivery);
      if (!nonce.ok) return nonce;
      const signed = template.fill(delivery, stamp.value, nonce.value);
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
      const signed = template.fill({ method, url, path, body }, stamp, message.id);
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
    const isOwn = takesKey(algorithm, kindOf(key.material) ?? 'secret');
    if (isOwn) return prefix + sign(algorithm);
    if (options.ed25519Prefix !== undefined) return options.ed25519Prefix + sign('ed25519');
    throw keyNotOfAlgorithm(algorithm);
  }
}

type Found = { readonly ok: true; readonly value: string } | Rejected;

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const slots = ['timestamp', 'nonce', 'id', 'method', 'url', 'decodedUrl', 'path', 'body'] as const;

type Slot = (typeof slots)[number];

type Piece = { readonly literal: Buffer } | { readonly slot: Slot };

/** The content that is signed, such as `{timestamp}.{body}`. */
export interface Template {
  readonly slots: ReadonlySet<Slot>;
  /**
   * The signed bytes, in order. Header values and request lines are bytes, which node decodes as Latin-1: `timestamp` and `id`
   * are as they were sent. Only the values that are needed are encoded.
   */
  fill(request: Signable, timestamp: string, id: string): readonly Uint8Array[];
}

/** Throws a `ConfigError` for an unknown name in braces, and for a template that does not cover the body. */
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

/** The parts of a request that a signature may cover, in addition to a time and an id. */
type Signable = Pick<Delivery, 'method' | 'url' | 'path' | 'body'>;

function textOf(slot: Exclude<Slot, 'body'>, request: Signable, timestamp: string, id: string): string {
  if (slot === 'timestamp') return timestamp;
  if (slot === 'decodedUrl') return decodeDelimiters(request.url);
  return slot === 'nonce' || slot === 'id' ? id : request[slot];
}

/** The URL with the delimiters of RFC 3986 decoded, as HubSpot signs it; every other percent-encoding stays. */
const decodeDelimiters = (url: string): string =>
  url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (encoded) => decodeURIComponent(encoded));

/**
 * Throws a `ConfigError` where a time or nonce is sent but not signed, or signed but not sent. One that is not signed
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

/** How one header, or several of one name, hold signatures and perhaps the signed time. */
export interface SignatureHeaderFormat {
  /** The header's name, in lower case. */
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** The text before each signature, such as `sha256=`. */
  readonly prefix: string;
  /** Set where the header may hold several values; those with another prefix are then ignored. */
  readonly separator?: string | undefined;
  /** The text before the signed time, where it stands in the same header. */
  readonly timestampPrefix?: string | undefined;
  /** The text before an Ed25519 signature, where the scheme has such keys beside its secrets. */
  readonly ed25519Prefix?: string | undefined;
  /** Whether the header may be sent several times, one signature each. */
  readonly repeated?: boolean | undefined;
}

interface SignatureHeader {
  /** Those that could be read: at least one. */
  readonly signatures: readonly Signature[];
  readonly timestamp: string | undefined;
}

/** More than a rotation of keys needs; without a limit, one request could cause thousands of comparisons. */
const maxSignatures = 16;

/**
 * Reads the signatures of deliveries, decoded strictly. One that cannot be read counts only when there is no other: a
 * sender may add signatures of a kind that is not known here.
 */
export function signatureHeaderReader(
  format: SignatureHeaderFormat,
): (delivery: Delivery) => SignatureHeader | Rejected {
  const { signatureHeader: header, prefix, algorithm, encoding, timestampPrefix, ed25519Prefix } = format;
  const entriesOf = entryReader(format);
  return (delivery) => {
    const entries = entriesOf(delivery);
    if ('ok' in entries) return entries;
    if (entries.length > maxSignatures) {
      return rejected('malformed_credential', `the header ${header} holds too many signatures`);
    }
    const stamps =
      timestampPrefix === undefined ? [] : entries.filter((entry) => entry.startsWith(timestampPrefix));
    if (stamps.length > 1) {
      return rejected('repeated_credential', `the header ${header} has two ${timestampPrefix ?? ''}`);
    }
    const signatures: Signature[] = [];
    addSignatures(signatures, entries, prefix, algorithm, encoding);
    if (ed25519Prefix !== undefined) addSignatures(signatures, entries, ed25519Prefix, 'ed25519', encoding);
    if (signatures.length > 0) return { signatures, timestamp: stamps[0]?.slice(timestampPrefix?.length) };
    return rejected(
      'malformed_credential',
      entries.every((entry) => !entry.startsWith(prefix))
        ? `the header ${header} has no signature '${prefix}…'`
        : `the signature in ${header} is not ${signatureForm(algorithm)} in ${encoding.startsWith('hex') ? 'hex' : encoding}`,
    );
  };
}

/** Adds those that can be read of the signatures with this prefix. */
function addSignatures(
  signatures: Signature[],
  entries: readonly string[],
  prefix: string,
  algorithm: Algorithm,
  encoding: Encoding,
): void {
  for (const entry of entries) {
    const bytes = entry.startsWith(prefix) ? decode(entry.slice(prefix.length), encoding) : undefined;
    if (bytes !== undefined && hasLengthOf(algorithm, bytes)) signatures.push({ algorithm, bytes });
  }
}

/** The values between the separators, without the blanks around them. */
function entryReader(format: SignatureHeaderFormat): (delivery: Delivery) => readonly string[] | Rejected {
  const { signatureHeader: header, repeated = false } = format;
  // A proxy may join repeated headers by commas (RFC 9110, section 5.3).
  const separator = format.separator ?? (repeated ? ',' : undefined);
  const isJoined = repeated ? (): boolean => false : joinedHeaderTest(format);
  return (delivery) => {
    const values = headerValues(delivery, header);
    const problem = repeated && values.length > 1 ? undefined : problemOfSole(values, header);
    if (problem !== undefined) return problem;
    if (values.some(isJoined)) {
      return rejected('repeated_credential', `the header ${header} holds more than one value`);
    }
    if (separator === undefined) return values;
    // Some senders write blanks around it, and some do not.
    return values.flatMap((value) => value.split(separator.trim() || separator)).map((entry) => entry.trim());
  };
}

/**
 * Whether a proxy made one value of two headers. Where a comma separates the entries of the header itself, nothing shows
 * it but a second time.
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
