/** One lead on its way to one target. */
export interface OutgoingDelivery {
  /** The same for every attempt: the id that schemes send (`webhook-id`), and their nonce where they have one. */
  readonly id: string;
  readonly leadId: string;
  /** URL of the receiver. */
  readonly target: string;
  /** The lead's own bytes. */
  readonly body: Uint8Array;
}
