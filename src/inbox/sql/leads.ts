import type { DatabaseReader } from '../driver.ts';
import type { ErasedLead, InboxReader } from '../inbox.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads } from '../query-types.ts';
import { leadsBySeq } from './deliveries.ts';
import { numberOf, listIn, type Row, textOf } from './row.ts';
import { fromColumn, type Query, sql, toColumn, type Work } from './statement.ts';
import { erasedLeads } from './store-batch.ts';

/**
 * Reads the table `leads`, in batches. The values of a column in all rows of a batch are joined to one: a driver takes longer to make
 * a row's object than the database to find the row. `key`: the key of the inbox.
 */
export function leadReader(
  driver: DatabaseReader,
  key: Uint8Array,
): ReceivedLeads & Pick<InboxReader, 'has'> {
  const { dialect } = driver;
  return {
    lookUp: (leadIds) => lookUp(driver, key, leadIds),
    async has(leadIds) {
      const received = await lookUp(driver, key, leadIds);
      return new Set(leadIds.filter((_, i) => received[i] !== undefined));
    },
    async *seqsSince(since) {
      const seqs = dialect.list('seq', sql`first_at >= ${Math.ceil(since)}`);
      for await (const row of pages(driver, seqs)) yield listIn(row['joined']) as readonly number[];
    },
    leadsBySeq: (seqs) => leadsBySeq(driver, seqs),
    async *prunedSince(since) {
      const pruned = dialect.list(
        dialect.array('id, seq, first_at'),
        sql`first_at >= ${Math.ceil(since)} AND NOT EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.seq = page.seq)`,
      );
      for await (const row of pages(driver, pruned)) {
        const leads = listIn(row['joined']) as readonly [id: string, seq: number, firstAt: number][];
        yield leads.map(([id, seq, receivedAt]): PrunedLead => ({ leadId: fromColumn(id), seq, receivedAt }));
      }
    },
  };
}

type LeadRow = readonly [index: number, seq: number, firstAt: number, digest: string, isWaiting: 0 | 1];

/** Does what `ReceivedLeads.lookUp` says. */
async function lookUp(
  driver: DatabaseReader,
  key: Uint8Array,
  leadIds: readonly string[],
): Promise<readonly (ReceivedLead | undefined)[]> {
  const { dialect } = driver;
  const isWaiting = `EXISTS (SELECT 1 FROM @forwards AS f WHERE f.lead = leads.id AND f.state <> 'done')`;
  const columns = `asked.key, seq, first_at, ${dialect.hex('digest').text}, CASE WHEN ${isWaiting} THEN 1 ELSE 0 END`;
  const [row] = await driver.read(
    sql`SELECT ${dialect.list(dialect.array(columns))} AS joined
      FROM ${dialect.tableOf(leadIds.map(toColumn))} JOIN @leads ON leads.id = asked.value`,
  );
  const rows = listIn(row?.['joined']) as readonly LeadRow[];
  const stored = new Map(
    rows.map(([index, seq, receivedAt, digest, waiting]): [string | undefined, ReceivedLead] => [
      leadIds[index],
      { seq, receivedAt, digest, isWaiting: waiting === 1 },
    ]),
  );
  const erased = await findErased(
    driver,
    key,
    leadIds.filter((leadId) => !stored.has(leadId)),
  );
  return leadIds.map((leadId) => {
    const history = erased.get(leadId);
    if (history === undefined) return stored.get(leadId);
    return { seq: history.seq, receivedAt: history.firstAt, digest: undefined, isWaiting: false };
  });
}

async function findErased(
  driver: DatabaseReader,
  key: Uint8Array,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, ErasedLead>> {
  // Most inboxes have no erased lead: then no id needs to be digested.
  const isAsked =
    leadIds.length > 0 && (await driver.read(sql`SELECT 1 AS one FROM @erased LIMIT 1`)).length > 0;
  return isAsked ? readAll(driver, erasedLeads(driver.dialect, key, leadIds)) : new Map();
}

/** Leads that are read at once: between two reads other work of this process gets its turn. */
const pageLeads = 10_000;

/** Reads all leads in pages, in the order of ids, and of each page one value as `joined`, which an expression makes. */
async function* pages(driver: DatabaseReader, expression: Query): AsyncGenerator<Row> {
  for (let lastId = ''; ;) {
    const [row] = await driver.read(
      sql`SELECT ${expression} AS joined, MAX(id) AS last_id, COUNT(*) AS leads
        FROM (SELECT id, seq, first_at FROM @leads WHERE id > ${lastId} ORDER BY id LIMIT ${pageLeads}) AS page`,
    );
    if (row === undefined || numberOf(row['leads']) === 0) return;
    yield row;
    if (numberOf(row['leads']) < pageLeads) return;
    lastId = textOf(row['last_id']);
  }
}

/** Runs work that only reads, without a transaction. */
async function readAll<T>(driver: DatabaseReader, work: Work<T>): Promise<T> {
  for (let step = work.next([]); ;) {
    if (step.done === true) return step.value;
    step = work.next(await Promise.all(step.value.map((query) => driver.read(query as Query))));
  }
}
