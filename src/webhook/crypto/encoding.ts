import { bufferOf } from '../../json/bytes.ts';

export const encodings = ['hex', 'base64', 'base64url'] as const;

/** How a signature is written in its header. */
export type Encoding = (typeof encodings)[number];

export const encode = (bytes: Uint8Array, encoding: Encoding): string => bufferOf(bytes).toString(encoding);

/**
 * The bytes that `text` encodes; undefined unless it is exactly what `encode` would write for them: node's own decoding
 * stops at, or skips, characters that it does not know. Hex is lower case; base64 is padded, base64url is not.
 */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}
