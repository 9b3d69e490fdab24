import { bufferOf } from '../../json/bytes.ts';

export const encodings = ['hex', 'hex-upper', 'base64', 'base64url'] as const;

/** How a signature is written in its header. */
export type Encoding = (typeof encodings)[number];

export function encode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'hex-upper') return bufferOf(bytes).toString('hex').toUpperCase();
  return bufferOf(bytes).toString(encoding);
}

/**
 * The bytes that `text` encodes; undefined unless it is exactly what `encode` would write for them: node's own decoding
 * stops at, or skips, characters that it does not know. `hex` is lower case; base64 is padded, base64url is not.
 */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  const bytes = Buffer.from(text, encoding === 'hex-upper' ? 'hex' : encoding);
  return encode(bytes, encoding) === text ? bytes : undefined;
}

export const encodingNames: Readonly<Record<Encoding, string>> = {
  hex: 'lower-case hex',
  'hex-upper': 'upper-case hex',
  base64: 'base64',
  base64url: 'base64url',
};
