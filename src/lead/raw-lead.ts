/** A lead as its own bytes, beside what was read from them: the record is never rebuilt from objects. */
export interface RawLead {
  /** One JSON object, compact: exactly the sender's tokens, without white space between them. UTF-8. */
  readonly bytes: Uint8Array;
  /** `id` as text: a string's value, or an integer's digits. Undefined when missing or of another type. */
  readonly id: string | undefined;
  /** `createdAt` as it stands there, when it is a string. */
  readonly createdAt: string | undefined;
  /** `category`, when it is a string. */
  readonly category: string | undefined;
}
