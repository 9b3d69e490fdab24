/** What a request is answered, before faults touch it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What goes wrong on the way. */
  readonly wire?: Wire | undefined;
}

/**
 * How the bytes are spoilt: a connection that is reset before the answer; a body that ends in its middle, with its
 * length announced, in chunks, or delimited by the connection's end alone; or one that comes in drops.
 */
type Wire =
  | { readonly kind: 'reset' }
  | { readonly kind: 'truncate'; readonly framing: 'length' | 'chunked' | 'close' }
  | { readonly kind: 'slow'; readonly overMs: number };

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonBytes(status, Buffer.from(JSON.stringify(value)), headers);
}

/** For bodies that hold records in their own bytes. */
export function jsonBytes(
  status: number,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** Errors are JSON objects with `error` and `message` (specification, section 7). */
export function failure(
  status: number,
  error: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return json(status, { error, message }, headers);
}
