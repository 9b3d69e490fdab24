import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';

const slots = ['timestamp', 'nonce', 'id', 'method', 'url', 'decodedUrl', 'path', 'body'] as const;

export type Slot = (typeof slots)[number];

type Piece = { readonly literal: Buffer } | { readonly slot: Slot };

/** The content that is signed, such as `{timestamp}.{body}`. */
export interface Template {
  readonly slots: ReadonlySet<Slot>;
  /** The signed bytes, in order. Values of headers must be the bytes that were sent. */
  fill(value: (slot: Slot) => Uint8Array): readonly Uint8Array[];
}

/** Throws a `ConfigError` for an unknown name in braces, and for a template that does not cover the body. */
export function parseTemplate(text: string): Template {
  const pieces = text.split(/(\{[^{}]*\})/).map(pieceOf);
  const used = new Set(pieces.flatMap((piece) => ('slot' in piece ? [piece.slot] : [])));
  if (!used.has('body')) {
    throw new ConfigError(
      `the signed content '${text}' does not cover {body}: anybody could change the lead`,
    );
  }
  return {
    slots: used,
    fill: (value) => pieces.map((piece) => ('slot' in piece ? value(piece.slot) : piece.literal)),
  };
}

function pieceOf(text: string): Piece {
  if (!text.startsWith('{')) return { literal: Buffer.from(text) };
  const slot = slots.find((name) => `{${name}}` === text);
  if (slot !== undefined) return { slot };
  throw new ConfigError(`the signed content names ${text}, which is unknown`, {
    hint: `it may hold ${slots.map((name) => `{${name}}`).join(' ')}`,
  });
}

/** The parts of a request that a signature may cover, in addition to a time and an id. */
export type Signable = Pick<Delivery, 'method' | 'url' | 'path' | 'body'>;

/** Header values and request lines are bytes, which node decodes as Latin-1. Only the values that are needed are encoded. */
export function valuesOf(request: Signable, timestamp: string, id: string): (slot: Slot) => Uint8Array {
  return (slot) => {
    if (slot === 'body') return request.body;
    if (slot === 'timestamp') return Buffer.from(timestamp, 'latin1');
    if (slot === 'decodedUrl') return Buffer.from(decodeDelimiters(request.url), 'latin1');
    return Buffer.from(slot === 'nonce' || slot === 'id' ? id : request[slot], 'latin1');
  };
}

/** The URL with the delimiters of RFC 3986 decoded, as HubSpot signs it; every other percent-encoding stays. */
const decodeDelimiters = (url: string): string =>
  url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (encoded) => decodeURIComponent(encoded));
