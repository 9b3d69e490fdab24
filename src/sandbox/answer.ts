/** What a request is answered, before faults touch it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

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
