import type { ScannedRecord } from '../../../json/scanned-record.ts';
import type { PageFacts } from '../../pagination/page-facts.ts';

export interface PagePart {
  readonly leads: readonly ScannedRecord[];
  /** An earlier attempt broke off after it had handed out leads: some of these may have come before. */
  readonly again: boolean;
  /** Set on the last part. */
  readonly facts: PageFacts | undefined;
}
