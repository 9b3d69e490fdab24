import { DataError, UsageError } from '../errors.ts';
import type { Delivery } from '../webhook/delivery.ts';

/** An HTTP request that was written down, as far as the form of writing holds it. */
export interface Capture {
  /** The form in a few words: `a curl command`. */
  readonly form: string;
  readonly method: string;
  /** The whole URL; undefined where the form holds the path alone. */
  readonly url: string | undefined;
  readonly path: string;
  /** Names and values as bytes in Latin-1, as node reads them from a socket. */
  readonly rawHeaders: Delivery['rawHeaders'];
  /** Undefined where the form does not hold it. */
  readonly body: Uint8Array | undefined;
  /** When it was sent or received, in milliseconds since the epoch, where the form says it. */
  readonly capturedAt: number | undefined;
  /** Lower-case names of headers whose values are not in the capture, such as variables of a shell. */
  readonly withheld?: readonly string[];
  readonly notes: readonly CaptureNote[];
}

/** A remark about a part that the capture does not hold exactly; flags that replace the part remove it. */
export interface CaptureNote {
  readonly about: 'body' | 'headers' | 'delivery';
  readonly message: string;
}

export const bodyNote = (message: string): CaptureNote => ({ about: 'body', message });

export interface CaptureOptions {
  readonly entry: number | undefined;
  /** Lower-case names of the headers by which the wanted request is recognized among several. */
  readonly credentialHeaders: readonly string[];
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

export const unreadable = (fault: string): DataError =>
  new DataError(`the capture cannot be read: ${fault}`, {
    hint:
      "give a HAR file, the output of 'curl -v', a curl command, a raw HTTP/1.1 request, a line of 'leads listen --json', " +
      "or --body FILE with --header 'Name: value'",
  });

/** Header lines are split at the first colon; blanks around the value do not count (RFC 9112, section 5). */
export function parseHeaderLine(line: string): readonly [name: string, value: string] | undefined {
  const colon = line.indexOf(':');
  if (colon <= 0) return undefined;
  const name = line.slice(0, colon);
  return /\s/.test(name) ? undefined : [name, trimBlanks(line.slice(colon + 1))];
}

/**
 * Removes blanks and line breaks only (RFC 9110, section 5.6.3). Header bytes are read as Latin-1, where the last byte of a UTF-8 `à`
 * (C3 A0) is a no-break space, which `trim` would remove.
 */
function trimBlanks(value: string): string {
  let [start, end] = [0, value.length];
  while (isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** Text of JSON as header bytes in Latin-1: characters beyond it were sent as UTF-8. */
export const asHeaderBytes = (text: string): string =>
  /[^\u0000-\u00ff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

/** Path and query of a URL as they are sent; undefined for what is no URL of HTTP. */
export function targetOf(url: string): string | undefined {
  const [, target] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(url) ?? [];
  return target?.replace(/^(?!\/)/, '/');
}

export const valueOf = (rawHeaders: Delivery['rawHeaders'], name: string): string | undefined =>
  rawHeaders.find(([key]) => key.toLowerCase() === name)?.[1];

/** A time as `Date.parse` reads it, ms; undefined for anything else. */
export function timeIn(text = ''): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** A request of a capture as far as it distinguishes it from the others. */
export interface EntryHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Delivery['rawHeaders'];
}

const mostListed = 5;

/**
 * The request that is meant and its index: the one with the number in `options`, the only one, the only POST, or the only
 * POST with a credential. Throws a `UsageError` where that leaves several, or the number none.
 */
export function chooseEntry<T extends EntryHead>(
  entries: readonly T[],
  source: 'the HAR' | 'the output of curl -v' | 'the output of listen',
  { entry, credentialHeaders }: Pick<CaptureOptions, 'entry' | 'credentialHeaders'>,
): readonly [chosen: T, index: number] {
  const all = [...entries.entries()];
  const posts = all.filter(([, { method }]) => method === 'POST');
  const signed = posts.filter(([, { headers }]) =>
    headers.some(([name]) => credentialHeaders.includes(name.toLowerCase())),
  );
  const candidates =
    entry === undefined ? [all, posts, signed] : [all.filter(([index]) => index === entry - 1)];
  const [index, chosen] = candidates.find(({ length }) => length === 1)?.[0] ?? [];
  if (chosen !== undefined && index !== undefined) return [chosen, index];
  if (entry !== undefined) throw new UsageError(`--entry ${entry}: ${source} holds ${entries.length}`);
  const listed = [signed, posts, all].find(({ length }) => length > 0) ?? [];
  // Without the query, which may hold a credential.
  const places = listed.map(([i, { url }]) => `${i + 1} (${url.replace(/[?#].*$/s, '').slice(0, 100)})`);
  const more = places.length > mostListed ? ', …' : '';
  const text = places.slice(0, mostListed).join(', ') + more;
  throw new UsageError(`${source} holds several requests that may be meant: ${text}`, {
    hint: 'choose one with --entry N',
  });
}
