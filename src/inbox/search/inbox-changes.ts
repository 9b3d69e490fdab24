import type { InboxQuery } from './inbox-query.ts';
import type { SearchStep } from './search-step.ts';

/** Which deliveries an inbox holds. */
export interface InboxExtent {
  /** The number of the newest delivery that can be read; 0 where there was never one. */
  readonly newestSeq: number;
  /** Of the oldest one; 0 where there is none. */
  readonly oldestSeq: number;
  /** Leads that were erased so far. */
  readonly erased: number;
}

/** What somebody asks who watches an inbox that others write to. */
export interface InboxChanges {
  /** Another text after something was written, by whichever process; so cheap that it is asked ten times a second. */
  changeMark(): Promise<string>;
  extent(): Promise<InboxExtent>;
  /**
   * For each of these deliveries that is there, a text that is another one after its verdict changed or a result was
   * kept.
   */
  outcomeMarks(seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Looks for deliveries whose id or body may hold the text, newest first, in small steps between which other work gets its
   * turn. A store leaves out what it can tell by cheap means: the caller looks at the others itself.
   */
  search(text: string, query: InboxQuery): AsyncIterable<SearchStep>;
}
