import type { Span } from '../../json/element/members.ts';

/** A delivery that may hold the text that is looked for, as it is stored. */
export interface Candidate {
  readonly seq: number;
  readonly leadId: string | undefined;
  readonly body: Uint8Array;
  /** The lead's own bytes in the body; undefined when the body is the lead. */
  readonly place: Span | undefined;
}

/** One step of a search. */
export interface SearchStep {
  /** Newest first. */
  readonly candidates: readonly Candidate[];
  /** How many deliveries were looked at in this step. */
  readonly looked: number;
}
