import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** In bytes: a few hundred bytes can decompress to gigabytes. */
const maxOutputLength = 4 * 1024 * 1024;

/** What a compressed body holds (gzip, deflate or brotli); undefined for a body that is none of these, or too large. */
export function decompress(body: Uint8Array): Buffer | undefined {
  const [first = 0, second = 0] = body;
  const expand =
    first === 0x1f && second === 0x8b ? gunzipSync : first === 0x78 ? inflateSync : brotliDecompressSync;
  // Brotli has no mark at its start; what begins like text is not worth the attempt.
  if (body.length < 4 || (expand === brotliDecompressSync && /[\s"[{]/.test(String.fromCharCode(first)))) {
    return undefined;
  }
  try {
    return expand(body, { maxOutputLength });
  } catch {
    return undefined;
  }
}
