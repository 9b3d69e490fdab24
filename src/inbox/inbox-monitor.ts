/** Leads that a target has not had, as an operator watches them; a lead counts once for each target that lacks it. */
export interface Backlog {
  /**
   * A label that holds no credentials, such as `forward http://localhost:3000`. Undefined: all targets together that this
   * receiver hands nothing to, whatever they are called.
   */
  readonly target: string | undefined;
  readonly leads: number;
  /** When the first delivery of the oldest of them came, in milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** Those without a label last. */
export const inOrderOfLabels = (backlog: Iterable<Backlog>): Backlog[] =>
  [...backlog].sort((a, b) =>
    b.target === undefined || (a.target !== undefined && a.target < b.target) ? -1 : 1,
  );

/** The connections of this process to a store on another machine. */
export interface ConnectionPool {
  /** Open connections, and how many of them run a statement. */
  readonly open: number;
  readonly busy: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
  /** Connections and statements that failed since the start. */
  readonly errors: number;
}

/** What an operator's monitoring asks of an inbox. */
export interface InboxMonitor {
  /**
   * Resolves when the next delivery can be made durable: something was written, synced and, after a write failed for want
   * of room, there is room again. Stores nothing. Rejects with a `CannotStoreError` that says why not.
   */
  checkWritable(): Promise<void>;
  /** What is outstanding, in the order of the labels, the targets without one last. Read in small steps, so that no delivery waits for it. */
  backlog(): Promise<readonly Backlog[]>;
  /** Left out by a store that has no connections. */
  pool?(): ConnectionPool;
}
