import type { DatabaseReader } from '../driver.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads } from '../query-types.ts';
import { leadsBySeq } from './deliveries.ts';
import { numberOf, numbersIn, type Row, textOf, textsIn } from './row.ts';
import { fromColumn, type Query, sql, toColumn, type Work } from './statement.ts';
import { erasedLeads } from './store-batch.ts';

type PrunedRow = readonly [id: string, seq: number, firstAt: number];

/** Rows of `leads` that are read at once: between two reads other work of this process gets its turn. */
const pageRows = 10_000;

/**
 * Looks leads up in batches. Each column of a batch comes back as one text: a driver takes longer to make a row's object than the
 * database to find the row. `key`: of the inbox.
 */
export function leadLookup(
  driver: DatabaseReader,
  key: Uint8Array,
): ReceivedLeads & { readonly has: (leadIds: readonly string[]) => Promise<ReadonlySet<string>> } {
  const { dialect } = driver;
  const erased = async (leadIds: readonly string[]) => {
    const [any] = leadIds.length === 0 ? [] : await driver.read(sql`SELECT 1 AS one FROM @erased LIMIT 1`);
    return any === undefined ? new Map<string, never>() : readAll(driver, erasedLeads(dialect, key, leadIds));
  };
  const lookUp = async (leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> => {
    const isWaiting = `CASE WHEN EXISTS (SELECT 1 FROM @forwards AS f WHERE f.lead = leads.id AND f.state <> 'done') THEN 1 ELSE 0 END`;
    const [row] = await driver.read(
      sql`SELECT ${dialect.joined('asked.key')} AS places, ${dialect.joined('seq')} AS seqs, ${dialect.joined('first_at')} AS times,
        ${dialect.joined(dialect.hex('digest').text)} AS digests, ${dialect.joined(isWaiting)} AS waiting
        FROM ${dialect.each(leadIds.map(toColumn))} JOIN @leads ON leads.id = asked.value`,
    );
    const results: (ReceivedLead | undefined)[] = leadIds.map(() => undefined);
    const [seqs, times, digests, waiting] = ['seqs', 'times', 'digests', 'waiting'].map((name) =>
      textsIn(row?.[name]),
    );
    for (const [i, place] of numbersIn(row?.['places']).entries()) {
      results[place] = {
        seq: Number(seqs?.[i]),
        receivedAt: Number(times?.[i]),
        digest: digests?.[i],
        isWaiting: waiting?.[i] === '1',
      };
    }
    const gone = await erased(leadIds.filter((_, i) => results[i] === undefined));
    return leadIds.map((leadId, i) => {
      const stays = gone.get(leadId);
      if (stays === undefined) return results[i];
      return { seq: stays.seq, receivedAt: stays.firstAt, digest: undefined, isWaiting: false };
    });
  };
  /** Reads all leads in pages, in the order of ids: `column` makes one value of each page. */
  async function* pages(column: Query): AsyncGenerator<Row> {
    for (let last = ''; ;) {
      const [row] = await driver.read(
        sql`SELECT ${column} AS found, MAX(id) AS last, COUNT(*) AS leads
          FROM (SELECT id, seq, first_at FROM @leads WHERE id > ${last} ORDER BY id LIMIT ${pageRows}) AS page`,
      );
      if (row === undefined || numberOf(row['leads']) === 0) return;
      yield row;
      if (numberOf(row['leads']) < pageRows) return;
      last = textOf(row['last']);
    }
  }
  return {
    lookUp,
    async has(leadIds) {
      const results = await lookUp(leadIds);
      return new Set(leadIds.filter((_, i) => results[i] !== undefined));
    },
    async *seqsSince(since) {
      const column = dialect.joined('seq', sql`first_at >= ${Math.ceil(since)}`);
      for await (const row of pages(column)) yield numbersIn(row['found']);
    },
    leadsBySeq: (seqs) => leadsBySeq(driver, seqs),
    async *prunedSince(since) {
      const column = dialect.list(
        dialect.array('id, seq, first_at'),
        sql`first_at >= ${Math.ceil(since)} AND NOT EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.seq = page.seq)`,
      );
      for await (const row of pages(column)) {
        const leads = JSON.parse(textOf(row['found']) || '[]') as PrunedRow[];
        yield leads.map(([id, seq, receivedAt]): PrunedLead => ({ leadId: fromColumn(id), seq, receivedAt }));
      }
    },
  };
}

async function readAll<T>(driver: DatabaseReader, work: Work<T>): Promise<T> {
  for (let step = work.next([]); ;) {
    if (step.done === true) return step.value;
    step = work.next(await Promise.all(step.value.map((query) => driver.read(query as Query))));
  }
}
