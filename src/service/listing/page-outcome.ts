import type { DataError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { PageFacts } from '../pagination/page-facts.ts';
import type { Position } from '../pagination/position.ts';
import type { Border } from './drift/border-check.ts';
import type { PageTally } from './dedupe.ts';
import type { Completion } from './evidence/completion.ts';

/** Why a walk has to find out by requests of its own where it goes on. */
export type ProbeReason =
  /** An answer says nothing about a next page, or the service rejected the one that was computed. */
  | { readonly kind: 'silent' }
  /** The service says that more follows, and nothing else; this is the last id. */
  | { readonly kind: 'behind-id'; readonly id: string }
  /** The offset that was found is ignored after all. */
  | { readonly kind: 'ignored' };

/** A page that came whole. */
export interface WholePage {
  readonly kind: 'page';
  readonly facts: PageFacts;
  /** New leads of the last part; the parts before it were handed out. */
  readonly leads: readonly ScannedRecord[];
  /** Of all parts. */
  readonly tally: PageTally;
  readonly firstId: string | undefined;
  /** Of the first record and of the last one: they tell pages apart whose records have no ids. */
  readonly firstMark: string;
  readonly lastMark: string;
}

/** What reading one position came to. */
export type PageOutcome =
  | WholePage
  /** Records may lie between the page before and this one: the list moved. */
  | { readonly kind: 'moved'; readonly border: Exclude<Border, 'joined'> }
  /** The service rejected the page size, or took it for a filter: the same position is to be read with another one. */
  | { readonly kind: 'size-rejected' }
  /** The service ignores the position that probes have found: the first page came again. */
  | { readonly kind: 'ignored' }
  /** The service rejected a position behind a page that was read. */
  | { readonly kind: 'rejected'; readonly error: DataError };

/** Where a walk goes from a page. */
export type Step =
  | { readonly kind: 'go'; readonly position: Position }
  /** It has to be found out by requests of its own. */
  | { readonly kind: 'probe'; readonly reason: ProbeReason }
  | { readonly kind: 'end'; readonly completion: Completion };

export const go = (position: Position): Step => ({ kind: 'go', position });
