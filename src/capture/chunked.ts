/**
 * The body of chunks (RFC 9112, section 7.1), whose lines may end in LF alone, as text in Latin-1. Undefined for what is
 * not chunked: many tools write the decoded body under the header that they received.
 */
export function decodeChunked(text: string): string | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const line = /([0-9a-f]{1,8})(?:;[^\n]{0,1000})?\r?\n/iy;
    line.lastIndex = at;
    const found = line.exec(text);
    if (found === null) return undefined;
    const size = Number.parseInt(found[1] ?? '', 16);
    if (size === 0) return body;
    const start = line.lastIndex;
    if (start + size > text.length) return undefined;
    body += text.slice(start, start + size);
    const end = /\r?\n/y;
    end.lastIndex = start + size;
    if (!end.test(text)) return undefined;
    at = end.lastIndex;
  }
}
