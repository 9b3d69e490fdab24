import type { AttemptRecord, StoredResult } from '../../inbox.ts';
import { maxResultsKept } from '../../store-options.ts';
import { targetAddress, targetLabel } from '../../target-name.ts';
import { resultsIn } from '../read/read-database.ts';
import {
  bytesOf,
  bytesOfText,
  nullable,
  numberOf,
  type Rows,
  type Sql,
  sql,
  statements,
  textOfBytes,
} from '../sql.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import type { Answers, Decision, Plan } from './transaction.ts';

/** What several callers record, in one transaction that locks the rows of `forwards`, sorted, and then the deliveries. */
export class RecordPlan implements Plan<undefined> {
  readonly questions: Readonly<Record<string, Sql>>;
  readonly #works: readonly (readonly AttemptRecord[])[];
  readonly #context: StoreContext;

  constructor(works: readonly (readonly AttemptRecord[])[], context: StoreContext) {
    this.#works = works;
    this.#context = context;
    const { schema } = context;
    const records = works.flat();
    const seqs = records.filter(({ result }) => result !== undefined).map(({ seq }) => seq);
    this.questions = {
      forwards: sql`SELECT count(*) FROM (SELECT FROM ${schema}.forwards AS f WHERE (lead, target) IN (SELECT * FROM unnest(
          ${records.map(({ leadId }) => bytesOfText(leadId))}::bytea[], ${records.map((one) => this.#targetOf(one))}::bytea[]))
        ORDER BY lead, target FOR UPDATE) AS locked;`,
      deliveries: sql`SELECT seq, encode(results, 'hex') AS results FROM ${schema}.deliveries
        WHERE seq = ANY(${seqs}::int8[]) ORDER BY seq FOR UPDATE;`,
    };
  }

  decide(answers: Answers): Promise<Decision<undefined>> {
    const records = this.#works.flat();
    const change = statements(
      this.#done(records.filter(({ outcome }) => outcome === 'done')),
      this.#undone(records.filter(({ outcome }) => outcome !== 'done')),
      addResults(this.#context.schema, answers['deliveries'] ?? [], records),
    );
    return Promise.resolve({ kind: 'write', statements: change, results: this.#works.map(() => undefined) });
  }

  #targetOf({ target, insteadOf }: AttemptRecord): Uint8Array {
    return insteadOf === undefined ? this.#context.storedName(target) : Buffer.from(insteadOf, 'hex');
  }

  #done(records: readonly AttemptRecord[]): Sql | undefined {
    if (records.length === 0) return undefined;
    return sql`UPDATE ${this.#context.schema}.forwards AS f SET state = 'done', claimed_until = 0
      FROM unnest(${records.map(({ leadId }) => bytesOfText(leadId))}, ${records.map((one) => this.#targetOf(one))})
        AS new (lead, target) WHERE f.lead = new.lead AND f.target = new.target;`;
  }

  #undone(records: readonly AttemptRecord[]): Sql | undefined {
    if (records.length === 0) return undefined;
    const delays = records.map(({ outcome }) =>
      typeof outcome === 'object' ? Math.round(outcome.retryInMs) : undefined,
    );
    return sql`UPDATE ${this.#context.schema}.forwards AS f SET claimed_until = 0, tries = f.tries - new.untried::int,
        due_at = coalesce(${databaseTime} + new.delay, f.due_at), state = CASE WHEN new.dead THEN 'dead' ELSE f.state END
      FROM unnest(${records.map(({ leadId }) => bytesOfText(leadId))}, ${records.map((one) => this.#targetOf(one))},
        ${records.map(({ tries }) => tries)}, ${nullable('int8', delays)},
        ${records.map(({ outcome }) => outcome === 'untried')}, ${records.map(({ outcome }) => outcome === 'dead')})
        AS new (lead, target, tries, delay, untried, dead)
      WHERE f.lead = new.lead AND f.target = new.target AND f.tries = new.tries AND f.state <> 'done';`;
  }
}

/** `rows`: the deliveries that are left. */
function addResults(schema: Sql, rows: Rows, records: readonly AttemptRecord[]): Sql | undefined {
  const added = new Map<number, StoredResult[]>();
  for (const { seq, target, result } of records) {
    if (result === undefined) continue;
    const stored = { ...result, target: targetLabel(target), address: targetAddress(target) };
    added.set(seq, [...(added.get(seq) ?? []), stored]);
  }
  if (rows.length === 0) return undefined;
  const results = rows.map((row) => {
    const before = resultsIn(textOfBytes(bytesOf(row['results'])));
    return [...before, ...(added.get(numberOf(row['seq'])) ?? [])].slice(-maxResultsKept);
  });
  return sql`UPDATE ${schema}.deliveries AS d SET results = new.results
    FROM unnest(${rows.map((row) => numberOf(row['seq']))},
      ${results.map((list) => bytesOfText(JSON.stringify(list)))}) AS new (seq, results) WHERE d.seq = new.seq;`;
}
