/** A lead as it was delivered. */
export interface Lead {
  /** At most 512 bytes; of an integer its digits. Deliveries that repeat it are of the same lead. */
  readonly id: string;
  /** One JSON object in UTF-8 without white space: the sender's own tokens, so that every digit is there. */
  readonly bytes: Uint8Array;
  /** The same, parsed when it is first asked for; integers beyond 2^53 lose digits here. */
  readonly value: Readonly<Record<string, unknown>>;
}
