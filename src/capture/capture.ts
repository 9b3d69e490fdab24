import { DataError, UsageError } from '../errors.ts';
import type { Delivery } from '../webhook/delivery.ts';

/**
 * An HTTP request that was written down. `form` names the way of writing, such as `a curl command`; what it does
 * not hold is undefined. `url` is the whole URL, and `path` its path and query. Header bytes are read as
 * Latin-1, as node reads them from a socket. `capturedAt` is when the request was sent or received, in
 * milliseconds since the epoch. `withheld` are the lower-case names of headers whose values are not in the
 * capture, such as variables of a shell.
 */
export interface Capture {
  readonly form: string;
  readonly method: string;
  readonly url?: string | undefined;
  readonly path: string;
  readonly rawHeaders: Delivery['rawHeaders'];
  readonly body?: Uint8Array | undefined;
  readonly capturedAt?: number | undefined;
  readonly withheld?: readonly string[];
  readonly notes: readonly CaptureNote[];
}

export type CapturedBody = Pick<Capture, 'body' | 'notes'>;

/** A remark about a part that the capture does not hold exactly; flags that replace the part remove it. */
export interface CaptureNote {
  readonly about: 'body' | 'headers' | 'delivery';
  readonly message: string;
}

export const bodyNote = (message: string): CaptureNote => ({ about: 'body', message });

/**
 * `entry` is the number, from 1, of the request to read. Without it, the lower-case names of
 * `credentialHeaders` tell a delivery from other requests.
 */
export interface CaptureOptions {
  readonly entry: number | undefined;
  readonly credentialHeaders: readonly string[];
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

export const unreadable = (fault: string): DataError =>
  new DataError(`the capture cannot be read: ${fault}`, {
    hint:
      "give a HAR file, the output of 'curl -v', a curl command, a raw HTTP/1.1 request, a line of 'leads listen --json', " +
      "or --body FILE with --header 'Name: value'",
  });

/** Splits at the first colon, without the blanks around the value (RFC 9112, section 5). Undefined for no header. */
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

/** Returns the path and query of a URL as they are sent; undefined for a text that is no URL of HTTP. */
export function pathOf(url: string): string | undefined {
  const [, target] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(url) ?? [];
  return target?.replace(/^(?!\/)/, '/');
}

export const headerIn = (rawHeaders: Delivery['rawHeaders'], name: string): string | undefined =>
  rawHeaders.find(([key]) => key.toLowerCase() === name)?.[1];

/** Returns milliseconds since the epoch for a date that `Date.parse` reads; undefined for any other text. */
export function timeIn(text = ''): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The parts of a request by which it is chosen among the requests of a capture. */
export interface EntryHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Delivery['rawHeaders'];
}

const mostListed = 5;

/**
 * Returns one of `entries`, which are not empty, and its index: that of the number `entry`, the only one, the only
 * POST, or the only POST with a credential. Throws a `UsageError` where these do not choose exactly one.
 */
export function chooseEntry<T extends EntryHead>(
  entries: readonly T[],
  source: 'the HAR' | 'the output of curl -v' | 'the output of listen',
  { entry, credentialHeaders }: Pick<CaptureOptions, 'entry' | 'credentialHeaders'>,
): readonly [chosen: T, index: number] {
  if (entry !== undefined) {
    const chosen = entries[entry - 1];
    if (chosen === undefined) throw new UsageError(`--entry ${entry}: ${source} holds ${entries.length}`);
    return [chosen, entry - 1];
  }
  const all = [...entries.entries()];
  const posts = all.filter(([, { method }]) => method === 'POST');
  const signed = posts.filter(([, { headers }]) =>
    headers.some(([name]) => credentialHeaders.includes(name.toLowerCase())),
  );
  const only = [all, posts, signed].find(({ length }) => length === 1)?.[0];
  if (only !== undefined) return [only[1], only[0]];
  throw severalRequests(source, [signed, posts].find(({ length }) => length > 0) ?? all);
}

function severalRequests(source: string, entries: readonly (readonly [number, EntryHead])[]): UsageError {
  const places = entries.map(([index, { url }]) => {
    // The query may hold a credential.
    const withoutQuery = url.replace(/[?#].*$/s, '');
    return `${index + 1} (${withoutQuery.slice(0, 100)})`;
  });
  const more = places.length > mostListed ? ', …' : '';
  const text = places.slice(0, mostListed).join(', ') + more;
  return new UsageError(`${source} holds several requests that may be meant: ${text}`, {
    hint: 'choose one with --entry N',
  });
}
