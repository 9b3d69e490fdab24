/** A lead as its own bytes, and the values read from them: the record is never built again from objects. */
export interface RawLead {
  /** One compact JSON object in UTF-8: exactly the sender's tokens, without white space between them. */
  readonly bytes: Uint8Array;
  /** The value of `id` if it is a string, its digits if it is an integer; otherwise undefined. */
  readonly id: string | undefined;
  /** The value of `createdAt` if it is a string; `readCreatedAt` reads it. */
  readonly createdAt: string | undefined;
  /** The value of `category` if it is a string. */
  readonly category: string | undefined;
}
