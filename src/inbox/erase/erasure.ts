/** What is to be erased. */
export interface Erasure {
  readonly leadIds: readonly string[];
  /** Numbers of rejected deliveries. */
  readonly rejected: readonly number[];
}

/** What was erased, counted. */
export interface ErasedCounts {
  /** Leads of which something was there. */
  readonly leads: number;
  /** Deliveries of these leads that were taken in, repeats included. */
  readonly deliveries: number;
  /** Rejected deliveries. */
  readonly rejected: number;
  /** Those of the leads that some target had not had: it will not get them. */
  readonly pending: number;
}

export interface Erased extends ErasedCounts {
  /** Why copies of what was erased are still in the store's own files; undefined when none are. */
  readonly remains: string | undefined;
  /** Where this store's data may also be, in a few words each, and where nothing can be erased from here. */
  readonly outOfReach: readonly string[];
}

/** What stays of a lead, under a keyed digest of its id. */
export interface ErasedLead {
  /** Number of its first delivery. */
  readonly seq: number;
  /** Of its first delivery, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Deliveries of the id before it was erased. */
  readonly attempts: number;
}

/** Finds what stays of a lead; undefined when it was not erased. */
export type FindErased = (leadId: string) => ErasedLead | undefined;
