import { backslash, isSpace, quote } from './bytes.ts';

/** Valid JSON without the white space between its tokens and without a byte order mark; every token keeps its bytes. */
export function compact(json: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(json.length);
  let length = 0;
  let inString = false;
  const start = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf ? 3 : 0;
  for (let i = start; i < json.length; i += 1) {
    const byte = json[i] as number;
    if (inString) {
      if (byte === backslash) {
        out[length] = byte;
        length += 1;
        i += 1;
        out[length] = json[i] as number;
        length += 1;
        continue;
      }
      if (byte === quote) inString = false;
    } else {
      if (isSpace(byte)) continue;
      if (byte === quote) inString = true;
    }
    out[length] = byte;
    length += 1;
  }
  return out.subarray(0, length);
}
