import type { LeadsError } from '../../errors.ts';
import type { Json } from '../../json/exact.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import { parseLead } from '../../lead/field.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { PageFacts } from '../../service/pagination/page-facts.ts';

/** A lead of an answer, as far as comparisons need it. */
export interface SeenLead {
  /** Its id, or its bytes where it has none. */
  readonly key: string;
  readonly hasId: boolean;
  /** Milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
  readonly record: Json;
}

export interface SeenPage {
  readonly kind: 'page';
  /** Records of the answer, or of the part of a very large one that was read. */
  readonly count: number;
  /** The first ones of them. */
  readonly leads: readonly SeenLead[];
  /** Undefined where a very large answer was not read to its end. */
  readonly facts: PageFacts | undefined;
}

/** What came of one request. */
export type Seen =
  | SeenPage
  /** The service rejected it, or failed at it, or answered something else than a page. */
  | {
      readonly kind: 'rejected';
      readonly status: number | undefined;
      readonly message: string;
      readonly error: LeadsError;
    }
  /** There is no request left for it. */
  | { readonly kind: 'unasked' };

/** Leads that are compared of one page. */
export const mostCompared = 1000;

export const keyOf = ({ id, bytes }: Pick<RawLead, 'id' | 'bytes'>): string =>
  id ?? Buffer.from(bytes).toString('latin1');

export const seenLead = (lead: ScannedRecord): SeenLead => ({
  key: keyOf(lead),
  hasId: lead.hasId,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export const keysOf = ({ leads }: Pick<SeenPage, 'leads'>): readonly string[] => leads.map(({ key }) => key);
