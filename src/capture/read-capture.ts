import { type Capture, type CaptureOptions, unreadable } from './capture.ts';
import { isCurlCommand, isCurlDump, readCurlCommand, readCurlDump } from './curl.ts';
import { readJsonCapture } from './json-captures.ts';
import { isRawHttp, readRawHttp } from './raw-http.ts';

const maxHeaders = 1000;
const longestPath = 65_536;
const longestStart = 4096;

/**
 * Reads the request in a capture, whose form is recognized. Throws a `DataError` for a capture of no known form, and a
 * `UsageError` where it holds several requests and none is chosen.
 */
export async function readCapture(bytes: Uint8Array, options: CaptureOptions): Promise<Capture> {
  const capture = await readForm(asUtf8(bytes), options);
  if (capture.rawHeaders.length > maxHeaders)
    throw unreadable(`the request has ${capture.rawHeaders.length} headers, more than any server takes`);
  if (capture.path.length > longestPath) throw unreadable('its URL is longer than any server takes');
  return capture;
}

async function readForm(bytes: Buffer, options: CaptureOptions): Promise<Capture> {
  // In Latin-1 every byte is one character: bytes that are not UTF-8 survive.
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const start = text.slice(0, longestStart).trimStart();
  if (start === '' && text.trim() === '') throw unreadable('it is empty');
  if (/^[{[]/.test(start)) return readJsonCapture(bytes, options);
  if (isRawHttp(start)) return readRawHttp(text);
  if (isCurlDump(text)) return readCurlDump(text, options);
  if (isCurlCommand(text)) return readCurlCommand(text, options);
  throw unreadable('it has none of the known forms');
}

/** `>` of Windows PowerShell writes UTF-16 with a byte order mark. */
function asUtf8(bytes: Uint8Array): Buffer {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return raw[0] === 0xff && raw[1] === 0xfe ? Buffer.from(raw.subarray(2).toString('utf16le'), 'utf8') : raw;
}
