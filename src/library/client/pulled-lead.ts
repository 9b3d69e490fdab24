/** A lead as the service listed it. */
export interface PulledLead {
  /** The value of `id`, an integer by its digits; undefined for a record without one, which may come more than once. */
  readonly id: string | undefined;
  /** One compact JSON object in UTF-8, exactly the service's tokens: numbers keep all their digits here. */
  readonly bytes: Uint8Array;
  /** The same as `JSON.parse` reads it, when it is first asked for: integers beyond 2^53 lose digits. */
  readonly value: Readonly<Record<string, unknown>>;
}
