import { DataError, UsageError } from '../errors.ts';
import { type Delivery, trimBlanks } from '../webhook/delivery.ts';

/** One HTTP request as somebody wrote it down, as far as the form of writing holds it. */
export interface Capture {
  /** What was read, in a few words: `a curl command`. */
  readonly form: string;
  readonly method: string;
  /** The whole URL; undefined where the form holds the path alone. */
  readonly url: string | undefined;
  /** Path and query. */
  readonly path: string;
  /** Names and values as bytes in Latin-1, as node reads them from a socket. */
  readonly rawHeaders: Delivery['rawHeaders'];
  /** Undefined where the form holds none. */
  readonly body: Uint8Array | undefined;
  /** When it was sent or received, in milliseconds since the epoch, where the form says it. */
  readonly at: number | undefined;
  /** Lower-case names of headers whose values are not in the capture, such as variables of a shell. */
  readonly withheld?: readonly string[];
  readonly notes: readonly CaptureNote[];
}

/** What a capture does not hold exactly. */
export interface CaptureNote {
  /** What replaces it, if it is given otherwise, makes the note superfluous. */
  readonly about: 'body' | 'headers' | 'delivery';
  /** A sentence without a full stop. */
  readonly found: string;
}

/** A note about the body: most are. */
export const bodyNote = (found: CaptureNote['found']): CaptureNote => ({ about: 'body', found });

/** What reading a capture needs to know, and may ask for. */
export interface CaptureOptions {
  /** Which request, from 1, where there are several. */
  readonly entry: number | undefined;
  /** Lower-case names of the headers by which the wanted request is recognized among several. */
  readonly credentialHeaders: readonly string[];
  /** The bytes of a file that a curl command names. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

/** A capture from which no request can be read. */
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

/** Text of JSON as header bytes in Latin-1: characters beyond it were sent as UTF-8. */
export const asHeaderBytes = (text: string): string =>
  /[^\u0000-\u00ff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

/** Path and query of a URL as they are sent; undefined for what is no URL of HTTP. */
export function targetOf(url: string): string | undefined {
  const [, rest] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(url) ?? [];
  if (rest === undefined) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

export const valueOf = (rawHeaders: Delivery['rawHeaders'], name: string): string | undefined =>
  rawHeaders.find(([key]) => key.toLowerCase() === name)?.[1];

/** A time as `Date.parse` reads it, ms; undefined for anything else. */
export function timeIn(text = ''): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

export const dateOf = (rawHeaders: Delivery['rawHeaders']): number | undefined =>
  timeIn(valueOf(rawHeaders, 'date'));

/** What tells one request of a capture from the others. */
export interface EntryHead {
  readonly method: string;
  readonly url: string;
  /** In lower case. */
  readonly headerNames: readonly string[];
}

const mostListed = 5;

/** Without the query, which may hold a credential. */
const place = (entry: EntryHead | undefined): string =>
  (entry?.url ?? '').replace(/[?#].*$/s, '').slice(0, 100);

/**
 * Index of the request that is meant: the one with the number that was given, the only one, the only POST, or the only
 * POST with a credential. Throws a `UsageError` where that leaves several, or the number none.
 */
export function chooseEntry(
  entries: readonly EntryHead[],
  source: 'the HAR' | 'the output of curl -v' | 'the output of listen',
  { entry, credentialHeaders }: Pick<CaptureOptions, 'entry' | 'credentialHeaders'>,
): number {
  if (entry !== undefined) {
    if (entry <= entries.length) return entry - 1;
    throw new UsageError(`--entry ${entry}: ${source} holds ${entries.length}`);
  }
  const all = entries.map((_, index) => index);
  const posts = all.filter((index) => entries[index]?.method === 'POST');
  const signed = posts.filter((index) =>
    entries[index]?.headerNames.some((name) => credentialHeaders.includes(name)),
  );
  const only = [all, posts, signed].find((some) => some.length === 1)?.[0];
  if (only !== undefined) return only;
  const listed = signed.length > 0 ? signed : posts.length > 0 ? posts : all;
  const shown = listed.slice(0, mostListed).map((index) => `${index + 1} (${place(entries[index])})`);
  const more = listed.length > mostListed ? ', …' : '';
  throw new UsageError(`${source} holds several requests that may be meant: ${shown.join(', ')}${more}`, {
    hint: 'choose one with --entry N',
  });
}
