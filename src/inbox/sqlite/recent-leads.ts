import { statSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import { leadBytes } from '../lead-bytes.ts';
import { bytesOf, fromColumn, placeOf, type Row, sharedSeqOf, textOf } from './libsql.ts';
import { type DatabasePages, readPages } from './pages/database-pages.ts';
import { newestRows, rowAt } from './pages/table-rows.ts';

/** A lead that came lately. */
export interface RecentLead {
  readonly leadId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Deliveries that are looked at, however many of them were rejected or repeats. */
const lookedAt = 1000;

/** A larger body is not read. */
const largestBody = 65_536;

/**
 * The newest leads of an inbox, each once, at most `count`. Takes no lock and changes nothing, loads no database, and
 * throws where the file cannot be read so.
 */
export const recentLeads = (path: string, count: number): RecentLead[] =>
  reading(path, (pages) => {
    const leads = new Map<string, RecentLead>();
    for (const row of recent(pages)) {
      const leadId = fromColumn(textOf(row['lead']));
      if (!leads.has(leadId)) leads.set(leadId, { leadId, receivedAt: Number(row['received_at']) });
      if (leads.size === count) break;
    }
    return [...leads.values()];
  });

/** The newest leads' own bytes, at most `count`, as `recentLeads` reads. */
export const recentBodies = (path: string, count: number): Uint8Array[] =>
  reading(path, (pages) => {
    const bodies: Uint8Array[] = [];
    for (const row of recent(pages)) {
      const sharedSeq = sharedSeqOf(row);
      const content = sharedSeq === undefined ? row : rowAt(pages, 'shared_content', sharedSeq);
      const body = leadBytes(bytesOf(content?.['body']), placeOf(row));
      if (body.length <= largestBody) bodies.push(body);
      if (bodies.length === count) break;
    }
    return bodies;
  });

function* recent(pages: DatabasePages): Generator<Row> {
  let rows = 0;
  for (const row of newestRows(pages, 'deliveries')) {
    if (row['verdict'] !== 'rejected' && row['lead'] !== null) yield row;
    rows += 1;
    if (rows === lookedAt) return;
  }
}

function reading<T>(path: string, read: (pages: DatabasePages) => T): T {
  // To open a named pipe would wait for its writer.
  if (!statSync(path).isFile()) throw new ConfigError(`${path} is not a regular file`);
  return readPages(path, read);
}
