import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { PageFacts } from '../pagination/page-facts.ts';
import type { PageTally } from './dedupe.ts';

/** What reading one position came to. The paginator decides by this alone where to go on. */
export type PageOutcome =
  | {
      readonly kind: 'page';
      readonly facts: PageFacts;
      /** New leads of the last part; the parts before it were handed out. */
      readonly leads: readonly ScannedRecord[];
      /** Of all parts. */
      readonly tally: PageTally;
    }
  /** Records may lie between the page before and this one: the list moved. */
  | { readonly kind: 'moved' }
  /** The service rejected the page size: the same position is to be read with another one. */
  | { readonly kind: 'size-rejected' }
  /** The position lies behind the last record. */
  | { readonly kind: 'past-the-end' };
