import type { Algorithm, CustomOptions } from '../scheme-options.ts';
import type { Secret } from '../../secret.ts';
import { encode, kindOf, matchingKey, signatureOf, takesKey } from '../crypto/signature.ts';
import { asymmetricKey, symmetricKey } from '../crypto/read-key.ts';
import { type Delivery, optionalHeader } from '../delivery.ts';
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
import { formatTimestamp, readTimestamp } from '../timestamp.ts';
import { type SignatureHeaderFormat, signatureHeaderReader } from './signature-header.ts';

type SentTime = { readonly ok: true; readonly value: string | undefined };

type DefaultedOption =
  | ('algorithm' | 'encoding' | 'prefix' | 'secretEncoding')
  | ('timestampHeader' | 'timestampFormat' | 'nonceHeader');

/** The options that a custom scheme has too mean the same here, and have the same defaults. */
export interface TemplateSchemeOptions
  extends Omit<SignatureHeaderFormat, DefaultedOption>, Pick<CustomOptions, DefaultedOption> {
  readonly name: string;
  /**
   * The signed bytes, such as `{timestamp}.{body}`. `{nonce}` and `{id}` both mean the value of `nonceHeader`.
   */
  readonly content: string;
  /** The form of a nonce that may be accepted. Default: any. */
  readonly noncePattern?: RegExp | undefined;
  readonly toleranceMs: number;
}

/**
 * Makes a scheme of data: it fills a template with the parts of a request, and signs the result. Throws a
 * `ConfigError` for a template that would let an attacker change a lead, a time or a nonce.
 */
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
    signsUrl: (['url', 'decodedUrl', 'path'] as const).some((slot) => template.slots.has(slot)),

    key(secret) {
      const pairAlgorithm = algorithmOfPair(algorithm, options.ed25519Prefix, secret);
      return pairAlgorithm === undefined
        ? symmetricKey(secret, options.secretEncoding ?? 'utf8')
        : asymmetricKey(secret, pairAlgorithm);
    },

    authenticate(delivery, keys) {
      const header = readSignatures(delivery);
      if (!header.ok) return header;
      const sentTime = sentTimeOf(delivery, header.timestamp);
      if (!sentTime.ok) return sentTime;
      const time = readTimestamp(sentTime.value, timestampFormat, timeSource);
      if (!time.ok) return time;
      const nonce = readNonce(delivery);
      if (!nonce.ok) return nonce;
      const signed = template.fill(delivery, sentTime.value ?? '', nonce.value ?? '');
      const key = matchingKey(keys, signed, header.signatures);
      if (key === -1) {
        return rejection('wrong_credential', `the signature in ${signatureHeader} does not match`);
      }
      return { ok: true, key, timestamp: time.ms, nonce: nonce.value };
    },

    sign({ method, url, body, id }, key, now) {
      const time = formatTimestamp(now, timestampFormat);
      // Parsing a URL costs as much as a signature.
      const path = template.slots.has('path') ? pathAndQuery(url) : '';
      const signature = signWith(key, template.fill({ method, url, path, body }, time, id));
      const headers: [string, string][] = [];
      if (nonceHeader !== undefined) headers.push([nonceHeader, id]);
      if (timestampHeader !== undefined) headers.push([timestampHeader, time]);
      const entries = timestampPrefix === undefined ? [signature] : [timestampPrefix + time, signature];
      headers.push([signatureHeader, entries.join(separator)]);
      return headers;
    },
  };

  /** Returns the signed time as it was sent; undefined where the scheme signs none. */
  function sentTimeOf(delivery: Delivery, inSignatureHeader: string | undefined): SentTime | Rejection {
    if (!isTimed || timestampHeader !== undefined)
      return optionalHeader(delivery, timestampHeader, 'missing_timestamp');
    if (inSignatureHeader !== undefined) return { ok: true, value: inSignatureHeader };
    return rejection('missing_timestamp', `the header ${signatureHeader} has no ${timestampPrefix ?? ''}`);
  }

  function readNonce(delivery: Delivery): ReturnType<typeof optionalHeader> {
    const nonce = optionalHeader(delivery, nonceHeader, 'missing_nonce');
    if (!nonce.ok || nonce.value === undefined) return nonce;
    const hasRightForm = options.noncePattern?.test(nonce.value) ?? true;
    if (hasRightForm) return nonce;
    return rejection('malformed_credential', `the header ${nonceHeader} holds what no id may hold`);
  }

  /** Returns the signature as it is sent, behind the prefix that names its algorithm. */
  function signWith(key: Key, signed: readonly Uint8Array[]): string {
    const hasUsualKind = takesKey(algorithm, kindOf(key.material));
    const entryPrefix = hasUsualKind ? prefix : options.ed25519Prefix;
    if (entryPrefix === undefined) throw keyNotOfAlgorithm(algorithm);
    const bytes = signatureOf(hasUsualKind ? algorithm : 'ed25519', key, signed);
    return entryPrefix + encode(bytes, encoding);
  }
}

/** Undefined for a shared secret. Where a scheme takes Ed25519 keys beside secrets, their prefix tells one from it. */
function algorithmOfPair(
  algorithm: Algorithm,
  ed25519Prefix: string | undefined,
  secret: Secret,
): Algorithm | undefined {
  if (!takesKey(algorithm, 'secret')) return algorithm;
  const mayBePair = ed25519Prefix !== undefined && secret.revealBytes() === undefined;
  return mayBePair && /^wh[sp]k_/.test(secret.reveal()) ? 'ed25519' : undefined;
}

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const slots = ['timestamp', 'nonce', 'id', 'method', 'url', 'decodedUrl', 'path', 'body'] as const;

type Slot = (typeof slots)[number];

type Piece = { readonly literal: Buffer } | { readonly slot: Slot };

/**
 * Reads a text such as `{timestamp}.{body}`. `fill` returns the signed bytes, in order. Node decodes header values and
 * request lines as Latin-1, so in this encoding `timestamp` and `id` become the bytes that were sent.
 */
export function parseTemplate(text: string) {
  const pieces = text
    .split(/(\{[^{}]*\})/)
    .filter((piece) => piece !== '')
    .map(pieceOf);
  const used: ReadonlySet<Slot> = new Set(pieces.flatMap((piece) => ('slot' in piece ? [piece.slot] : [])));
  if (!used.has('body')) throw bodyNotSigned(text);
  return {
    slots: used,
    fill(request: Signable, timestamp: string, id: string): readonly Uint8Array[] {
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
  if (timestampHeader !== undefined && timestampPrefix !== undefined) throw twoTimeSources();
  requireBoth('timestamp', slots.has('timestamp'), timestampHeader ?? timestampPrefix);
  requireBoth('nonce', slots.has('nonce') || slots.has('id'), nonceHeader);
}

function requireBoth(part: 'timestamp' | 'nonce', isSigned: boolean, source: string | undefined): void {
  if (isSigned && source === undefined) throw signedNotSent(part);
  if (!isSigned && source !== undefined) throw sentNotSigned(part);
}
