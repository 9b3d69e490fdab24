import type { TakenKind } from '../../decide-verdict.ts';
import type { TargetLease } from '../../inbox.ts';
import { maxResultsKept } from '../../store-limits.ts';
import { targetLabel } from '../../target-name.ts';
import { bytesOf, numberOf, type Rows, textOf } from '../sql/result-row.ts';
import { type Sql, sql, words } from '../sql/sql.ts';
import { bytesOfText, textOfBytes } from '../sql/text-bytes.ts';
import { resultsIn, type StoredResultFields } from './stored-results.ts';

interface Delivery {
  readonly seq: number;
  readonly receivedAt: number;
  verdict: string;
  status: number;
  results: readonly StoredResultFields[];
  isChanged: boolean;
}

/** The deliveries that leases name, during a transaction. Of one that was pruned nothing is kept. */
export class SettledDeliveries {
  readonly #schema: Sql;
  readonly #found: ReadonlyMap<number, Delivery>;

  constructor(schema: Sql, rows: Rows) {
    this.#schema = schema;
    this.#found = new Map(
      rows.map((row) => [
        numberOf(row['seq']),
        {
          seq: numberOf(row['seq']),
          receivedAt: numberOf(row['received_at']),
          verdict: textOf(row['verdict']),
          status: numberOf(row['status']),
          results: resultsIn(textOfBytes(bytesOf(row['results']))),
          isChanged: false,
        },
      ]),
    );
  }

  /** What the constructor is to be given. */
  static question(schema: Sql, seqs: readonly number[]): Sql {
    return sql`SELECT seq, received_at, verdict, status, encode(results, 'hex') AS results FROM ${schema}.deliveries
      WHERE seq = ANY(${seqs}::int8[]);`;
  }

  /** Gives a delivery that is pending its last verdict. */
  conclude(seq: number, verdict: Exclude<TakenKind, 'pending'>): void {
    const found = this.#found.get(seq);
    if (found?.verdict !== 'pending') return;
    found.verdict = verdict;
    found.status = 200;
    found.isChanged = true;
  }

  addResult({ seq, target, result }: TargetLease): void {
    const found = this.#found.get(seq);
    if (found === undefined || result === undefined) return;
    const { ok, answer, at, durationMs } = result;
    const added: StoredResultFields = [targetLabel(target), ok, answer, at, durationMs];
    found.results = [...found.results, added].slice(-maxResultsKept);
    found.isChanged = true;
  }

  /** Undefined when nothing changed. */
  get statements(): Sql | undefined {
    const changed = [...this.#found.values()].filter(({ isChanged }) => isChanged);
    if (changed.length === 0) return undefined;
    return sql`UPDATE ${this.#schema}.deliveries AS d SET verdict = new.verdict, status = new.status::int4,
  results = CASE WHEN new.results <> '' THEN new.results END
FROM unnest(${changed.map(({ seq }) => seq)}, ${changed.map(({ receivedAt }) => receivedAt)},
  ${words(changed.map(({ verdict }) => verdict))}, ${changed.map(({ status }) => status)},
  ${changed.map(({ results }) => bytesOfText(results.length === 0 ? '' : JSON.stringify(results)))}
) AS new (seq, received_at, verdict, status, results) WHERE d.seq = new.seq AND d.received_at = new.received_at;`;
  }
}
