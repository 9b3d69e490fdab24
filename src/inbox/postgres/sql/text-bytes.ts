const encoder = new TextEncoder();

const loneSurrogate = /\p{Surrogate}/u;

/** A high surrogate is U+D800 to U+DBFF, a low one up to U+DFFF; alone they have no UTF-8. */
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

/**
 * Text as the bytes under which it is stored, so that no two texts share theirs and PostgreSQL's `text`, which takes no
 * NUL, is not needed: UTF-8, and half a surrogate pair in the three bytes that its number would have there (WTF-8).
 */
export function bytesOfText(text: string): Uint8Array {
  if (!loneSurrogate.test(text)) return encoder.encode(text);
  const parts = Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return character.length === 1 && isSurrogate(code)
      ? Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
      : encoder.encode(character);
  });
  return Buffer.concat(parts);
}

/** The text that `bytesOfText` made them of. */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  let start = 0;
  // In UTF-8 a byte ED is followed by 80 to 9F.
  for (let i = buffer.indexOf(0xed); i !== -1; i = buffer.indexOf(0xed, i + 1)) {
    const second = buffer[i + 1] ?? 0;
    if (second < 0xa0) continue;
    const code = 0xd000 | ((second & 0x3f) << 6) | ((buffer[i + 2] ?? 0) & 0x3f);
    text += buffer.toString('utf8', start, i) + String.fromCharCode(code);
    start = i + 3;
  }
  return text + buffer.toString('utf8', start);
}
