/** A lead that is to be delivered. */
export interface SourceLead {
  /** Undefined where the record has no usable id: a receiver must reject it. */
  readonly leadId: string | undefined;
  /** Its own bytes. */
  readonly body: Uint8Array;
}

/** In batches, which cost less than leads one by one. */
export type LeadSource = AsyncIterable<readonly SourceLead[]>;
