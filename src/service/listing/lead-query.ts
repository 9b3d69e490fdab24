/** What is asked of the service; whether it listens is checked again by `leadFilter`, status aside. */
export interface LeadQuery {
  readonly status?: string | undefined;
  /** Any of these; sent only when there is exactly one. */
  readonly categories?: readonly string[] | undefined;
  /** Milliseconds since the epoch, inclusive; sent a day wider where the dialect knows how. */
  readonly since?: number | undefined;
  /** Milliseconds since the epoch, exclusive; sent a day wider where the dialect knows how. */
  readonly until?: number | undefined;
}
