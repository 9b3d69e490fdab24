import { erasedIdDigest } from '../delivery-record.ts';
import type { ErasedLead } from '../inbox.ts';
import { bytesOfText, hexOf, numberOf, type Rows, type Sql, sql, textOf } from './sql.ts';

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

/** An id that is to be erased. */
export interface StoredId {
  readonly bytes: Uint8Array;
  /** The same in hex. */
  readonly key: string;
  /** What stays of it. */
  readonly digest: Uint8Array;
}

export const storedIds = (key: Uint8Array, leadIds: readonly string[]): readonly StoredId[] =>
  [...new Set(leadIds)].map((leadId) => {
    const bytes = bytesOfText(leadId);
    return { bytes, key: hexOf(bytes), digest: erasedIdDigest(key, leadId) };
  });
