/**
 * The bytes by which an id is told apart. UTF-8, but for text with lone surrogates, which UTF-8 would make alike: it
 * keeps its UTF-16 units, behind a byte that UTF-8 never holds.
 */
export function idBytes(id: string): Uint8Array {
  if (!/[\ud800-\udfff]/u.test(id)) return Buffer.from(id, 'utf8');
  return Buffer.concat([Buffer.from([0xff]), Buffer.from(id, 'utf16le')]);
}
