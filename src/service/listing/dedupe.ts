import { DataError } from '../../errors.ts';
import type { IdSet, AddResult } from '../../lead/id-set.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { ListingStats } from './listing.ts';

/** What the records of one page turned out to be. */
export interface PageTally {
  /** Records with a usable id. */
  identified: number;
  /** Of these, met for the first time in this pass. */
  fresh: number;
  /** Of these, met before in this pass. */
  repeated: number;
  /** Records without one. */
  withoutId: number;
}

export const emptyTally = (): PageTally => ({ identified: 0, fresh: 0, repeated: 0, withoutId: 0 });

/** Lets through what was not met before, and counts. A record without an id always passes. */
export function dropKnown(leads: readonly ScannedRecord[], seen: IdSet, tally: PageTally): ScannedRecord[] {
  const kept: ScannedRecord[] = [];
  for (const lead of leads) {
    const meeting = meet(lead, seen);
    if (meeting === undefined) {
      tally.withoutId += 1;
      kept.push(lead);
      continue;
    }
    tally.identified += 1;
    if (meeting === 'repeat') tally.repeated += 1;
    else tally.fresh += 1;
    if (meeting === 'new') kept.push(lead);
  }
  return kept;
}

function meet(lead: ScannedRecord, seen: IdSet): AddResult | undefined {
  if (lead.hasPlainId) return seen.addBytes(lead.source, lead.idStart, lead.idEnd);
  return lead.hasId ? seen.add(lead.id ?? '') : undefined;
}

/** Tells pages apart whose records have no ids. */
export function markOf(leads: readonly ScannedRecord[]): string {
  const ends = [leads[0], leads.at(-1)].map((lead) => Buffer.from(lead?.bytes ?? []).toString('latin1'));
  return `${leads.length} ${ends.join(' ')}`;
}

/** Fails a walk that does not move: the same position again, or a page that brings nothing new (promise: no loop). */
export class LoopGuard {
  readonly #positions = new Set<string>();
  #empty = 0;

  /** Throws when the service names a position that was walked before. */
  enter(key: string): void {
    if (this.#positions.has(key)) {
      throw new DataError('the service names a page as the next one that was read before', { hint: way });
    }
    this.#positions.add(key);
  }

  /** Forgets the positions: the list is walked again. */
  reset(): void {
    this.#positions.clear();
  }

  /** Empty pages may stand in the middle of a list, but not without end. */
  count(records: number, stats: ListingStats): void {
    this.#empty = records === 0 ? this.#empty + 1 : 0;
    if (this.#empty > 1000) {
      throw new DataError(`the service sends one empty page after another (${stats.pages} pages read)`);
    }
  }
}

const way = "say how the service pages: 'leads config set api.pagination …' and 'api.params.…'";

export function stuck(): DataError {
  return new DataError('a page brought no new lead: the service ignores or repeats the way on', {
    hint: way,
  });
}
