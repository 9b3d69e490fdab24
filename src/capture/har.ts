import { type Json, valueAt } from '../json/exact.ts';
import {
  asHeaderBytes,
  bodyNote,
  type Capture,
  type CapturedBody,
  type CaptureNote,
  type CaptureOptions,
  chooseEntry,
  pathOf,
  timeIn,
  unreadable,
} from './capture.ts';

/** Returns the entries of a HAR (HTTP Archive 1.2); undefined for other JSON. */
export function harEntries(json: Json | undefined): readonly Json[] | undefined {
  const entries = valueAt(json, ['log', 'entries']);
  return Array.isArray(entries) ? (entries as readonly Json[]) : undefined;
}

export function readHar(entries: readonly Json[], options: CaptureOptions): Capture {
  if (entries.length === 0) throw unreadable('the HAR holds no request');
  const heads = entries.map((entry) => ({
    entry,
    method: textAt(entry, 'request', 'method') ?? '',
    url: textAt(entry, 'request', 'url') ?? '',
    headers: headersOf(entry),
  }));
  const [{ entry, method, url, headers }, index] = chooseEntry(heads, 'the HAR', options);
  const path = pathOf(url);
  if (method === '' || path === undefined)
    throw unreadable(`entry ${index + 1} of the HAR has no method or no URL`);
  return {
    form: entries.length === 1 ? 'a HAR' : `a HAR, entry ${index + 1} of ${entries.length}`,
    method,
    url,
    path,
    rawHeaders: withHostHeader(headers, url),
    capturedAt: timeIn(textAt(entry, 'startedDateTime')),
    ...bodyOf(entry),
  };
}

/** Leaves out the pseudo-headers of HTTP/2, such as `:path`, which Chromium saves as if they were headers. */
function headersOf(entry: Json): readonly (readonly [string, string])[] {
  const headers = valueAt(entry, ['request', 'headers']);
  if (!Array.isArray(headers)) return [];
  return (headers as readonly Json[]).flatMap((header) => {
    const [name, value] = [textAt(header, 'name'), textAt(header, 'value')];
    return name === undefined || value === undefined || name.startsWith(':')
      ? []
      : [[asHeaderBytes(name), asHeaderBytes(value)] as const];
  });
}

function withHostHeader(headers: Capture['rawHeaders'], url: string): Capture['rawHeaders'] {
  const isNamed = headers.some(([name]) => name.toLowerCase() === 'host');
  return isNamed || !URL.canParse(url) ? headers : [['host', new URL(url).host], ...headers];
}

/**
 * Reads `postData.text`, which is base64 where an `encoding` says so (HAR 1.3). Other text is exact only for a body
 * in UTF-8: a replacement character, a lone surrogate, or another size tells of lost bytes. Playwright may write
 * the body into the file `_file`.
 */
function bodyOf(entry: Json): CapturedBody {
  const data = valueAt(entry, ['request', 'postData']);
  const text = textAt(data, 'text');
  const size = valueAt(entry, ['request', 'bodySize']);
  const file = textAt(data, '_file');
  if (text === undefined || (text === '' && file !== undefined)) {
    if (file === undefined && size === 0) return { body: new Uint8Array(), notes: [] };
    const place = file === undefined ? 'holds no body' : `keeps the body in another file, ${file}`;
    return { body: undefined, notes: [bodyNote(`the HAR ${place}: give it with --body FILE`)] };
  }
  if (textAt(data, 'encoding') === 'base64') return { body: Buffer.from(text, 'base64'), notes: [] };
  const body = Buffer.from(text, 'utf8');
  const notes: CaptureNote[] = [];
  if (text.includes('\ufffd') || /[\ud800-\udfff]/u.test(text)) {
    notes.push(
      bodyNote('the HAR holds the body as text, and some of its bytes were not UTF-8: they are lost'),
    );
  } else if (typeof size === 'number' && size > 0 && size !== body.length) {
    const sizes = `the HAR says that the body had ${size} bytes, and its text has ${body.length}`;
    notes.push(bodyNote(`${sizes}: it does not hold the exact bytes`));
  }
  return { body, notes };
}

function textAt(json: Json | undefined, ...path: readonly string[]): string | undefined {
  const value = valueAt(json, path);
  return typeof value === 'string' ? value : undefined;
}
