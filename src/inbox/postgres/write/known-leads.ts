import type { ComparisonBudget, KnownLead, TakenVerdict } from '../../decide-verdict.ts';
import { maxComparedBytes } from '../../store-options.ts';
import type { Connection } from '../connection/database-connections.ts';
import { bytesOf, numberOf, type Sql, sql } from '../sql.ts';
import type { DistinctLead, TakenDelivery, TakenLead } from './take-queries.ts';

/** A lead as the database has it, before this transaction. */
export interface StoredLeadState {
  /** Of its first delivery. */
  readonly seq: number;
  readonly firstAt: number;
  readonly digest: Uint8Array;
  readonly attempts: number;
  /** Its first payload; undefined when it was not looked up, or was pruned. */
  readonly payload: Uint8Array | undefined;
}

/** One lead during a transaction, which may take several deliveries of it. */
export class LeadInBatch {
  readonly #comparison: ComparisonBudget;
  #first: Pick<StoredLeadState, 'seq' | 'firstAt' | 'digest' | 'payload'> | undefined;
  #attempts: number;

  constructor(before: StoredLeadState | undefined, comparison: ComparisonBudget) {
    this.#comparison = comparison;
    this.#first = before;
    this.#attempts = before?.attempts ?? 0;
  }

  /** Of its first delivery; undefined before that is taken. */
  get seq(): number | undefined {
    return this.#first?.seq;
  }

  /** What is known of it when the next delivery of it is taken; undefined for the first one of all. */
  known({ digest, payload }: TakenLead): KnownLead | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    const isSame = Buffer.compare(first.digest, digest) === 0;
    return {
      firstAt: first.firstAt,
      attempts: this.#attempts,
      firstBody: isSame ? 'same' : this.#comparison.spend(first.payload, payload),
    };
  }

  taken(lead: TakenLead, verdict: TakenVerdict, seq: number): void {
    this.#attempts = verdict.attempt;
    this.#first ??= { seq, firstAt: verdict.firstAt, digest: lead.digest, payload: lead.payload };
  }
}

/** What the database has of the leads that came before, by their keys. `known`: as `takeQuestions` asks for it. */
export function storedLeads(known: string, inBatch: readonly DistinctLead[]): Map<string, StoredLeadState> {
  const taken = new Map(inBatch.map(({ lead, attempts }) => [lead.key, attempts]));
  const found = new Map<string, StoredLeadState>();
  for (const lead of known === '' ? [] : known.split(',')) {
    const [key = '', seq, firstAt, digest = '', attempts] = lead.split(':');
    found.set(key, {
      seq: Number(seq),
      firstAt: Number(firstAt),
      digest: Buffer.from(digest, 'hex'),
      attempts: Number(attempts) - (taken.get(key) ?? 0),
      payload: undefined,
    });
  }
  return found;
}

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
  const [rows = []] = await connection.run(payloadsOf(schema, [...wanted.keys()]));
  for (const row of rows) {
    const key = wanted.get(numberOf(row['seq'])) ?? '';
    const lead = known.get(key);
    if (lead !== undefined) known.set(key, { ...lead, payload: bytesOf(row['payload']) });
  }
  return known;
}

/** Those that are small enough to be compared. */
const payloadsOf = (schema: Sql, seqs: readonly number[]): Sql =>
  sql`SELECT seq, encode(payload, 'hex') AS payload FROM (
  SELECT d.seq, CASE WHEN d.lead_start IS NULL THEN d.body
    ELSE substr(coalesce(c.body, d.body), d.lead_start + 1, d.lead_end - d.lead_start) END AS payload
  FROM ${schema}.deliveries AS d
  LEFT JOIN ${schema}.contents AS c ON c.seq = d.first_seq WHERE d.seq = ANY(${seqs})
) AS found WHERE octet_length(payload) <= ${maxComparedBytes}`;
