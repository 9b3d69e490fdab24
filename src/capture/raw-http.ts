import {
  bodyNote,
  type Capture,
  type CapturedBody,
  headerIn,
  parseHeaderLine,
  pathOf,
  timeIn,
  unreadable,
} from './capture.ts';

const requestLine = /^([A-Z][A-Z-]{0,19}) (\S+) HTTP\/\d(?:\.\d)?\r?\n/;

export const isRawHttp = (text: string): boolean => requestLine.test(text.replace(/^\s+/, ''));

/** Reads a request as it is sent over the wire (RFC 9112), with lines in CR LF or LF alone; `text` is its bytes in Latin-1. */
export function readRawHttp(text: string): Capture {
  const message = text.replace(/^\s+/, '');
  const [first = '', method = '', target = ''] = requestLine.exec(message) ?? [];
  const headEnd = /\r?\n\r?\n/.exec(message);
  const head = headEnd === null ? message : message.slice(0, headEnd.index);
  const rawHeaders = head
    .slice(first.length)
    // A line that begins with a blank continues the one before it (obs-fold).
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line, i) => {
      const header = parseHeaderLine(line);
      // The message does not quote the line, which may hold the credential.
      if (header === undefined) throw unreadable(`line ${i + 2} of the request is no header`);
      return header;
    });
  const host = headerIn(rawHeaders, 'host');
  // A request to a proxy has a whole URL as its target. For a path, section 4.2 of the specification demands HTTPS.
  const isWholeUrl = pathOf(target) !== undefined;
  const url = isWholeUrl ? target : host && `https://${host}${target}`;
  const content = headEnd === null ? '' : message.slice(headEnd.index + headEnd[0].length);
  return {
    form: 'a raw HTTP request',
    method,
    url,
    path: target,
    rawHeaders,
    capturedAt: timeIn(headerIn(rawHeaders, 'date')),
    ...bodyOf(content, rawHeaders, first.endsWith('\r\n')),
  };
}

function bodyOf(content: string, headers: Capture['rawHeaders'], isCrlf: boolean): CapturedBody {
  const isChunked = /chunked/i.test(headerIn(headers, 'transfer-encoding') ?? '');
  const decoded = isChunked ? decodeChunked(content) : undefined;
  const length = Number(headerIn(headers, 'content-length') ?? content.length);
  // An editor, or copying from a terminal, adds a line break after the last byte.
  const hasAddedLineBreaks = /^[\r\n]+$/.test(content.slice(length));
  const notes: string[] = [];
  if (!isCrlf && content.includes('\n'))
    notes.push('the lines of the request end in LF alone: those of its body may have ended in CR LF');
  if (isChunked && decoded === undefined)
    notes.push('the body is said to be chunked and is not: it is taken as it is');
  const text = decoded ?? (hasAddedLineBreaks ? content.slice(0, length) : content);
  return { body: Buffer.from(text, 'latin1'), notes: notes.map(bodyNote) };
}

/**
 * Decodes a chunked body (RFC 9112, section 7.1), whose lines may end in LF alone. Undefined for a text that is not
 * chunked: many tools write the decoded body after the header that they received.
 */
function decodeChunked(text: string): string | undefined {
  let body = '';
  let end = 0;
  for (;;) {
    const line = /(?:\r?\n)?([0-9a-f]{1,8})(?:;[^\n]{0,1000})?\r?\n/iy;
    line.lastIndex = end;
    const size = Number.parseInt(line.exec(text)?.[1] ?? '', 16);
    if (size === 0) return body;
    end = line.lastIndex + size;
    // NaN: this line is no size, so that the text is not chunked.
    if (Number.isNaN(size) || end > text.length) return undefined;
    body += text.slice(line.lastIndex, end);
  }
}
