import type { ScannedRecord } from '../../json/scanned-record.ts';

/** Tells pages apart whose records have no ids. */
export function markOf(leads: readonly ScannedRecord[]): string {
  const ends = [leads[0], leads.at(-1)].map((lead) => Buffer.from(lead?.bytes ?? []).toString('latin1'));
  return `${leads.length} ${ends.join(' ')}`;
}
