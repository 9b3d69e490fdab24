/** Where a lead came from: the service pushed it, or `--backfill` fetched it. */
export type Source = 'push' | 'backfill';

/** Names one stored delivery. */
export interface StoredRef {
  readonly leadId: string;
  /** The delivery's number in the inbox, growing. */
  readonly seq: number;
}

/** A lead in the inbox. */
export interface StoredLead extends StoredRef {
  readonly receivedAt: number;
  readonly source: Source;
  /** The lead's own bytes, as they came. */
  readonly body: Uint8Array;
}

/** What is known of a lead that was received, without its bytes. */
export interface ReceivedLead {
  /** The number of its first delivery. */
  readonly seq: number;
  /** Of its first delivery, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** SHA-256 of the lead's own bytes as they first came, in lower-case hex; undefined when the lead was erased. */
  readonly digest: string | undefined;
  /** Whether some target has not had it. */
  readonly isPending: boolean;
}

/** A lead that was received, and of which nothing else is left. */
export interface PrunedLead extends StoredRef {
  /** In milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Leads that were received, looked up in batches of at most 1,000: what comparing them with another list takes. */
export interface ReceivedLeads {
  /** One for each id, in order; undefined where no delivery of that id was ever taken in. An erased lead was. */
  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]>;
  /** The numbers of all leads that were first received then or later (ms since the epoch), in batches, in no order. */
  seqsSince(since: number): AsyncIterable<readonly number[]>;
  /** Of the leads with that number or a greater one, those that were fetched and never pushed, in batches, by number. */
  backfilledSeqs(from: number): AsyncIterable<readonly number[]>;
  /** The leads of those numbers, in no order; those whose body was pruned are left out. */
  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]>;
  /** Leads whose body was pruned, and that were first received then or later (ms since the epoch), in batches, in no order. */
  prunedSince(since: number): AsyncIterable<readonly PrunedLead[]>;
}
