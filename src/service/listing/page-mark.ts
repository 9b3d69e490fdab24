import type { ScannedRecord } from '../../json/scanned-record.ts';

/** A record's bytes as text: tells pages apart whose records have no ids. */
export const markOf = (lead: ScannedRecord | undefined): string =>
  lead === undefined ? '' : Buffer.from(lead.bytes).toString('latin1');
