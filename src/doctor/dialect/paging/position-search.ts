import type { DialectAsker, Query } from '../dialect-asker.ts';
import type { SeenPage } from '../seen-page.ts';
import type { FoundLimit } from './find-limit.ts';

/** What is known when it is asked how pages follow each other. */
export interface PositionSearch {
  readonly asker: DialectAsker;
  readonly found: FoundLimit;
  /** Leads from the front of the list. */
  readonly front: readonly string[];
  /** A page of a few leads, and what it was asked with. */
  readonly page: SeenPage;
  readonly query: Query;
  /** The size in that query; undefined where the service takes none. */
  readonly size: number | undefined;
  /** The other pages from the front that were read. */
  readonly others: readonly SeenPage[];
}
