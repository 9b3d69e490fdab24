import { openBrace } from '../json/bytes.ts';
import { isObject, type Json, jsonIn, valueAt } from '../json/exact.ts';
import { spanAtPointer } from '../json/members.ts';
import { scanner } from '../json/scanner.ts';
import {
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

/** Reads a HAR, or the lines of `leads listen --json`. */
export function readJsonCapture(bytes: Buffer, options: CaptureOptions): Capture {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const json = jsonIn(text);
  const entries = harEntries(json);
  if (entries !== undefined) return readHar(entries, options);
  const capture = readEventLines(text, options);
  if (capture !== undefined) return capture;
  throw unreadable(
    json === undefined
      ? 'it begins as JSON and is none'
      : 'it is JSON, and neither a HAR nor an event of listen',
  );
}

/** Returns the entries of a HAR (HTTP Archive 1.2); undefined for other JSON. */
function harEntries(json: Json | undefined): readonly Json[] | undefined {
  const entries = valueAt(json, ['log', 'entries']);
  return Array.isArray(entries) ? (entries as readonly Json[]) : undefined;
}

function readHar(entries: readonly Json[], options: CaptureOptions): Capture {
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

/** Returns a text of JSON as header bytes in Latin-1: characters beyond Latin-1 were sent as UTF-8. */
const asHeaderBytes = (text: string): string =>
  /[^\u0000-\u00ff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

/** Reads a delivery among the lines of `leads listen --json`; undefined for text without one. */
function readEventLines(text: string, options: CaptureOptions): Capture | undefined {
  const events = text.split(/\r?\n/).flatMap((line) => {
    const event = line.includes('"delivery"') ? jsonIn(line) : undefined;
    if (!isObject(event) || event['type'] !== 'delivery' || !('verdict' in event)) return [];
    const fields: Readonly<Record<string, unknown>> = event;
    // An event holds no URL: a message that lists several events names them by this text in its place.
    const url = `${String(fields['verdict'])} ${String(fields['leadId'] ?? fields['reason'])}`;
    return [{ line, fields, method: 'POST', url, headers: [] }];
  });
  if (events.length === 0) return undefined;
  const [{ line, fields }] = chooseEntry(events, 'the output of listen', options);
  const leadCount = Number(fields['leadCount'] ?? 1);
  const lead = leadCount > 1 ? undefined : leadTextIn(line);
  return {
    form: 'a line of the events of listen',
    method: 'POST',
    path: '/',
    rawHeaders: [],
    body: lead,
    capturedAt: timeIn(String(fields['receivedAt'])),
    notes: [
      bodyNote(bodyMessage(leadCount, lead)),
      {
        about: 'headers',
        message: "an event holds no headers: give those of the credential with --header 'Name: value'",
      },
    ],
  };
}

function bodyMessage(leadCount: number, lead: Buffer | undefined): string {
  if (leadCount > 1)
    return `the delivery held ${leadCount} leads, and an event holds one of them: give the body with --body FILE, or read it from the inbox with 'leads verify --id'`;
  if (lead === undefined) return 'this event holds no lead: give the body with --body FILE';
  return "an event holds the lead without its white space, not the body as it came: 'leads verify --id' reads that from the inbox";
}

/** Cuts the text of the lead out of the line: parsed and written again, its numbers and escapes could change. */
function leadTextIn(line: string): Buffer | undefined {
  const json = Buffer.from(line.trim());
  scanner.load(json);
  const span = spanAtPointer(json, ['lead']);
  return span && json[span.start] === openBrace ? json.subarray(span.start, span.end) : undefined;
}
