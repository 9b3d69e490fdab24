import { openForGlance } from './database-file.ts';
import { leadOfDelivery, SharedContentTable } from './delivery-tables.ts';
import { type Database, fromColumn, Statements, textOf } from './libsql.ts';

/** A lead that came lately. */
interface RecentLead {
  readonly leadId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Deliveries that are looked at, however many of them were rejected or repeats. */
const lookedAt = 1000;

/** A larger body is of no use. */
const largestBody = 65_536;

/**
 * The newest leads of an inbox, each once, at most `count`. Waits for nobody, makes and changes nothing, and throws where
 * the file cannot be read so, such as while somebody has all of it locked.
 */
export const recentLeads = (path: string, count: number): Promise<RecentLead[]> =>
  glancing(path, (database) => {
    const leads = new Map<string, RecentLead>();
    for (const { lead, received_at: receivedAt } of recentRows(database)) {
      const leadId = fromColumn(textOf(lead));
      if (!leads.has(leadId)) leads.set(leadId, { leadId, receivedAt: Number(receivedAt) });
      if (leads.size === count) break;
    }
    return [...leads.values()];
  });

/** The newest leads' own bytes, at most `count`, as `recentLeads` reads. */
export const recentBodies = (path: string, count: number): Promise<Uint8Array[]> =>
  glancing(path, (database) => {
    const sql = new Statements(database);
    const shared = new SharedContentTable(sql);
    const bodies: Uint8Array[] = [];
    for (const { seq } of recentRows(database)) {
      const body = leadOfDelivery(sql, Number(seq), shared);
      if (body !== undefined && body.length <= largestBody) bodies.push(body);
      if (bodies.length === count) break;
    }
    return bodies;
  });

const recentRows = (database: Database): ReturnType<ReturnType<Database['prepare']>['all']> =>
  database
    .prepare(
      `SELECT * FROM (SELECT seq, lead, received_at, verdict FROM deliveries ORDER BY seq DESC LIMIT ${lookedAt})
       WHERE verdict <> 'rejected' AND lead IS NOT NULL`,
    )
    .all([]);

async function glancing<T>(path: string, read: (database: Database) => T): Promise<T> {
  const database = await openForGlance(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}
