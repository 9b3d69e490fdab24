import { maxComparedBytes } from '../../store-limits.ts';
import type { Connection } from '../connection/database-connections.ts';
import { bytesOf, numberOf, type Rows, textOf } from '../sql/result-row.ts';
import { type Sql, sql } from '../sql/sql.ts';
import type { StoreContext } from '../store-context.ts';
import { storedNameLength } from '../../target-name.ts';
import type { StoredLeadState } from './known-lead.ts';
import type { DistinctLead } from './take-questions.ts';
import type { TakenDelivery } from './take-work.ts';

/** What the database has of the leads that came before, by their keys. `known`: as `insertLeads` gives it. */
export function storedLeads(
  context: StoreContext,
  known: string,
  outstanding: Rows,
  inBatch: readonly DistinctLead[],
): Map<string, StoredLeadState> {
  const { names, options, owner, leaseClock } = context;
  const now = leaseClock.now();
  const taken = new Map(inBatch.map(({ lead, attempts }) => [lead.key, attempts]));
  const leased = new Map<string, Set<string>>();
  for (const row of outstanding) {
    if (Buffer.compare(bytesOf(row['owner']), owner) === 0 || numberOf(row['lease']) <= now) continue;
    const targets = leased.get(textOf(row['lead'])) ?? new Set<string>();
    leased.set(textOf(row['lead']), targets.add(textOf(row['target'])));
  }
  const wanted = options.targets.map(
    (target) => [target, Buffer.from(names.storedName(target)).toString('hex')] as const,
  );
  const found = new Map<string, StoredLeadState>();
  for (const lead of known === '' ? [] : known.split(',')) {
    const [key = '', seq, firstAt, digest = '', attempts, accepted, settled = ''] = lead.split(':');
    const had = namesIn(settled);
    found.set(key, {
      seq: Number(seq),
      firstAt: Number(firstAt),
      digest: Buffer.from(digest, 'hex'),
      attempts: Number(attempts) - (taken.get(key) ?? 0),
      accepted: accepted === 't' || accepted === 'true',
      settled: wanted.filter(([, name]) => had.has(name)).map(([target]) => target),
      leasedElsewhere: wanted.filter(([, name]) => leased.get(key)?.has(name)).map(([target]) => target),
      payload: undefined,
    });
  }
  return found;
}

/** Names of targets, in hex, that stand after each other. */
export const namesIn = (hex: string): ReadonlySet<string> =>
  new Set(hex.match(new RegExp(`.{${2 * storedNameLength}}`, 'g')));

/** The same leads with their first payloads, where a delivery has another one and they may be compared. */
export async function findPayloads(
  connection: Connection,
  schema: Sql,
  known: Map<string, StoredLeadState>,
  deliveries: readonly TakenDelivery[],
): Promise<ReadonlyMap<string, StoredLeadState>> {
  const wanted = new Map<number, string>();
  for (const { leads } of deliveries) {
    for (const { key, digest, payload } of leads) {
      const lead = known.get(key);
      if (
        lead === undefined ||
        payload.length > maxComparedBytes ||
        Buffer.compare(lead.digest, digest) === 0
      )
        continue;
      wanted.set(lead.seq, key);
    }
  }
  if (wanted.size === 0) return known;
  const firsts = [...wanted].map(([seq, key]) => ({ seq, at: known.get(key)?.firstAt ?? 0 }));
  const [rows = []] = await connection.run(payloadsOf(schema, firsts));
  for (const row of rows) {
    const key = wanted.get(numberOf(row['seq'])) ?? '';
    const lead = known.get(key);
    if (lead !== undefined) known.set(key, { ...lead, payload: bytesOf(row['payload']) });
  }
  return known;
}

/** Those that are small enough to be compared. */
const payloadsOf = (schema: Sql, firsts: readonly { readonly seq: number; readonly at: number }[]): Sql =>
  sql`SELECT seq, encode(payload, 'hex') AS payload FROM (
  SELECT d.seq, CASE WHEN d.lead_start IS NULL THEN d.body
    ELSE substr(coalesce(c.body, d.body), d.lead_start + 1, d.lead_end - d.lead_start) END AS payload
  FROM unnest(${firsts.map(({ seq }) => seq)}, ${firsts.map(({ at }) => at)}) AS asked (seq, at)
  JOIN ${schema}.deliveries AS d ON d.seq = asked.seq AND d.received_at = asked.at
  LEFT JOIN ${schema}.contents AS c ON c.seq = d.first_seq AND c.received_at = d.received_at
) AS found WHERE octet_length(payload) <= ${maxComparedBytes}`;
