/** Which promise did not hold, and when. */
export interface Failure {
  /** The invariant's name, such as `acknowledged-is-stored`. */
  readonly invariant: string;
  /** What was found, in words. */
  readonly detail: string;
  /** In milliseconds since the epoch of the world. */
  readonly at: number;
}

/** What a world did; equal for equal plans, whatever the machine and its node. */
export interface WorldResult {
  readonly seed: number;
  readonly failure: Failure | undefined;
  /** A line an event, in words. */
  readonly trace: readonly string[];
  /** SHA-256 of the trace. */
  readonly digest: string;
}
