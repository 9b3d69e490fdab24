import { statSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import { leadBytes } from '../lead-bytes.ts';
import { bytesOf, fromColumn, placeOf, textOf } from './column.ts';
import { type Database, immutableUrl, loadLibsql, readOnlyUrl } from './libsql.ts';

/** A lead that came lately. */
export interface RecentLead {
  readonly leadId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Deliveries that are looked at, however many of them were rejected. */
const lookedAt = 1000;

/** A larger body is not read. */
const largestBody = 65_536;

const recent = `deliveries WHERE seq > (SELECT MAX(seq) FROM deliveries) - ${lookedAt}
  AND verdict <> 'rejected' AND lead IS NOT NULL`;

/** Repeats among the newest are passed over, as far as these rows go. */
const rowsForEach = 4;

/** The newest leads of an inbox, each once, at most `count`. Changes nothing, and throws where it cannot be read so. */
export const recentLeads = (path: string, count: number): Promise<RecentLead[]> =>
  reading(path, (database) => {
    const rows = database
      .prepare(`SELECT lead, received_at FROM ${recent} ORDER BY seq DESC LIMIT ?`)
      .all([count * rowsForEach]);
    const leads = new Map<string, RecentLead>();
    for (const row of rows) {
      const leadId = fromColumn(textOf(row['lead']));
      if (leads.has(leadId)) continue;
      leads.set(leadId, { leadId, receivedAt: Number(row['received_at']) });
      if (leads.size === count) break;
    }
    return [...leads.values()];
  });

/** The newest leads' own bytes, at most `count`, as `recentLeads` reads. */
export const recentBodies = (path: string, count: number): Promise<Uint8Array[]> =>
  reading(path, (database) => {
    const [row] = database.prepare('PRAGMA user_version').all([]);
    const place =
      Number(row?.['user_version']) > 2
        ? `, lead_start, lead_end,
           CASE WHEN first_seq IS NULL THEN body ELSE (SELECT body FROM shared_content WHERE seq = first_seq) END AS own`
        : ', body AS own';
    return database
      .prepare(
        `SELECT seq${place} FROM ${recent} AND LENGTH(body) <= ${largestBody} ORDER BY seq DESC LIMIT ?`,
      )
      .all([count])
      .map((found) => leadBytes(bytesOf(found['own']), placeOf(found)));
  });

async function reading<T>(path: string, read: (database: Database) => T): Promise<T> {
  // To open a named pipe would wait for its writer.
  if (!statSync(path).isFile()) throw new ConfigError(`${path} is not a regular file`);
  const Libsql = await loadLibsql();
  const database = new Libsql(untouchedUrl(path), { timeout: 0 });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/**
 * Without a log the file alone is read, with no lock and no file beside it. With one, whose newest leads are nowhere else,
 * the reader has shared locks for as long as it reads, which no writer waits for, and the log's index is not written to
 * (https://www.sqlite.org/wal.html, "Read-Only Databases").
 */
function untouchedUrl(path: string): string {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return (log?.size ?? 0) === 0 ? immutableUrl(path) : `${readOnlyUrl(path)}&readonly_shm=1`;
}
