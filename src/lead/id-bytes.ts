/**
 * The bytes that identify an id: its UTF-8. Text with lone surrogates, which UTF-8 replaces, keeps its UTF-16 units after a
 * byte that never occurs in UTF-8, so that two such ids stay different.
 */
export function idBytes(id: string): Uint8Array {
  if (!/[\ud800-\udfff]/u.test(id)) return Buffer.from(id, 'utf8');
  return Buffer.concat([Buffer.from([0xff]), Buffer.from(id, 'utf16le')]);
}
