/** One word that completes the typed one. */
export interface Candidate {
  readonly value: string;
  /** A few words of ours for shells that show them; never anything that came from outside. */
  readonly help?: string;
}

/** What a shell offers. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Names of files, which the shell knows itself. */
  readonly files?: boolean;
  /** The word goes on behind a candidate: no space comes after it. */
  readonly isOpen?: boolean;
}

export const nothing: Completion = { candidates: [] };

/** Those that begin with what is typed, each behind `prefix`. */
export const matching = (
  candidates: readonly Candidate[],
  typed: string,
  prefix = '',
): readonly Candidate[] =>
  candidates
    .map(({ value, ...help }) => ({ value: prefix + value, ...help }))
    .filter(({ value }) => value.startsWith(typed));
