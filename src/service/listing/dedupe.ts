import type { IdSet, AddResult } from '../../lead/id-set.ts';
import type { Unidentified } from '../../lead/unidentified.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';

/** What the records of one page, or of a part of it, turned out to be. */
export interface PageTally {
  /** Records with a usable id. */
  readonly identified: number;
  /** Of these, met for the first time in this pass. */
  readonly fresh: number;
  /** Of the fresh ones, known from an earlier pass, or from the run that is resumed. */
  readonly earlier: number;
  /** Met before in this pass. */
  readonly repeated: number;
  /** Records without one. */
  readonly withoutId: number;
}

export const noRecords: PageTally = { identified: 0, fresh: 0, earlier: 0, repeated: 0, withoutId: 0 };

/** Learns in which order a reading of the list meets new and known records. */
export interface RecordOrder {
  /** The pass of the ids with which this reading of the list began; undefined where the order does not matter. */
  readonly since: number | undefined;
  noteNew(): void;
  /** Known from an earlier pass, or from the run that is resumed. */
  noteKnown(): void;
}

/** Keeps what was not met before, and counts. A record without an id is kept unless the list is read again. */
export function dropKnown(
  leads: readonly ScannedRecord[],
  seen: IdSet,
  unidentified: Unidentified,
  order: RecordOrder,
): { readonly kept: ScannedRecord[]; readonly tally: PageTally; readonly newWithoutId: number } {
  const kept: ScannedRecord[] = [];
  let [identified, fresh, earlier, repeated, withoutId, newWithoutId] = [0, 0, 0, 0, 0, 0];
  for (const lead of leads) {
    const isRead = order.since !== undefined && lead.hasId && seen.isMetSince(lead.id ?? '', order.since);
    const meeting = meet(lead, seen);
    if (meeting === undefined) {
      withoutId += 1;
      if (!unidentified.isNew(lead)) continue;
      kept.push(lead);
      order.noteNew();
      newWithoutId += 1;
      continue;
    }
    identified += 1;
    if (meeting === 'repeat') repeated += 1;
    else fresh += 1;
    if (meeting === 'earlier') {
      earlier += 1;
      if (!isRead) order.noteKnown();
    }
    if (meeting !== 'new') continue;
    kept.push(lead);
    order.noteNew();
  }
  return { kept, tally: { identified, fresh, earlier, repeated, withoutId }, newWithoutId };
}

/** The counts of a page's parts together. */
export const addTallies = (a: PageTally, b: PageTally): PageTally => ({
  identified: a.identified + b.identified,
  fresh: a.fresh + b.fresh,
  earlier: a.earlier + b.earlier,
  repeated: a.repeated + b.repeated,
  withoutId: a.withoutId + b.withoutId,
});

function meet(lead: ScannedRecord, seen: IdSet): AddResult | undefined {
  if (lead.hasPlainId) return seen.addBytes(lead.source, lead.idStart, lead.idEnd);
  return lead.hasId ? seen.add(lead.id ?? '') : undefined;
}
