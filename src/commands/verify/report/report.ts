/** One thing that was checked. */
export interface Check {
  readonly name: 'secret' | 'header' | 'signature' | 'token' | 'time' | 'now' | 'base';
  /** Null where it cannot be checked. */
  readonly ok: boolean | null;
  readonly detail: string;
}

/** What `verify` says of one delivery; never a secret, never an expected signature. */
export interface Report {
  /** Whether it is genuine; null where the capture does not hold what would show it. */
  readonly ok: boolean | null;
  readonly scheme: string;
  /** Why it is not, as `listen` would name it. */
  readonly reason: string | null;
  readonly checks: readonly Check[];
  /** What would match, and the flags with which `verify` takes it, where there are any. */
  readonly wouldMatch: { readonly what: string; readonly fix: string | null } | null;
  /** One sentence where nothing would match. */
  readonly explanation: string | null;
  /** How many combinations were tried. */
  readonly tried: number;
  readonly form: string;
  /** The time for which it was checked, in ISO 8601. */
  readonly at: string;
  /** What the capture does not hold exactly, and what a receiver would reject besides. */
  readonly notes: readonly string[];
  /** The signature base of RFC 9421, where it is asked for. */
  readonly base?: string;
}
