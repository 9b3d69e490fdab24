import { erasedIdDigest } from '../../erase/erased-id.ts';
import type { ErasedLead } from '../../erase/erasure.ts';
import { numberOf, type Rows, textOf } from '../sql/result-row.ts';
import { hexOf, type Sql, sql } from '../sql/sql.ts';

interface ErasedIds {
  readonly schema: Sql;
  /** Of the digests. */
  readonly targetKey: Uint8Array;
}

/** Erased leads by their ids. */
export type ErasedLeads = ReadonlyMap<string, ErasedLead>;

/** Which of the leads were erased: gives the rows that `erasedLeads` reads. */
export const erasedQuestion = ({ schema, targetKey }: ErasedIds, leadIds: Iterable<string>): Sql =>
  sql`SELECT encode(digest, 'hex') AS digest, seq, first_at, attempts FROM ${schema}.erased
    WHERE digest = ANY(${Array.from(leadIds, (id) => erasedIdDigest(targetKey, id))}::bytea[]);`;

/** `leadIds`: those that were asked for. */
export function erasedLeads(
  { targetKey }: Pick<ErasedIds, 'targetKey'>,
  leadIds: Iterable<string>,
  rows: Rows,
): ErasedLeads {
  if (rows.length === 0) return new Map();
  const found = new Map(rows.map((row) => [textOf(row['digest']), row]));
  return new Map(
    Array.from(leadIds).flatMap((id): [string, ErasedLead][] => {
      const row = found.get(hexOf(erasedIdDigest(targetKey, id)));
      if (row === undefined) return [];
      const { seq, first_at: firstAt, attempts } = row;
      return [[id, { seq: numberOf(seq), firstAt: numberOf(firstAt), attempts: numberOf(attempts) }]];
    }),
  );
}
