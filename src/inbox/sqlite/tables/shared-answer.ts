import type { Database } from '../libsql.ts';

/**
 * The status of the one answer to a delivery of several leads: a lead in it that is pending decides for all of them.
 * `firstSeq` is the number of the first of them, `own` the status that the lead alone would have got.
 */
export function sharedAnswers(database: Database): (firstSeq: number, own: number) => number {
  const pending = database.prepare(
    "SELECT status FROM deliveries WHERE first_seq = ? AND verdict = 'pending' LIMIT 1",
  );
  /** The leads of a delivery mostly follow each other. */
  let last: { readonly firstSeq: number; readonly status: number | undefined } | undefined;
  return (firstSeq, own) => {
    if (last?.firstSeq !== firstSeq) {
      const [row] = pending.all([firstSeq]);
      last = { firstSeq, status: row === undefined ? undefined : Number(row['status']) };
    }
    return last.status ?? own;
  };
}
