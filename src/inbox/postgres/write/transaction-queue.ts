import { BatchQueue } from '../../../files/group-commit.ts';
import type { Clock } from '../../../time/clock.ts';
import type { Connection, Connections } from '../connection/database-connections.ts';
import { isAnswered, isConflict, isOfData } from '../postgres-errors.ts';
import { type Sql, sql, statements } from '../sql.ts';
import { openTransaction, orRollBack, type Plan, runToCommit } from './transaction.ts';

/** The works of one transaction have at most so many bytes, as they came. */
const maxBatchBytes = 8 * 1024 * 1024;

/** A transaction that meets others is tried so often. */
const maxConflicts = 5;

/** A transaction that failed after so long, in milliseconds, has kept the works behind it waiting long enough. */
const longFailureMs = 1000;

interface Step<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** How many transactions had failed after a long time when it was added. */
  readonly failures: number;
}

interface QueueOptions<Work, Result> {
  readonly connections: Connections;
  readonly planOf: (works: readonly Work[]) => Plan<Result>;
  /** Bytes. */
  readonly sizeOf: (work: Work) => number;
  readonly clock: Pick<Clock, 'steady'>;
  /** Told after each transaction how many works shared it. */
  readonly onCommit?: ((works: number) => void) | undefined;
}

/**
 * Transactions of many works, one after another, each in two messages to the database. Everything that is added while
 * one is under way goes in the next. A transaction that fails because of its data is taken apart until only those works fail
 * that cannot be stored.
 */
export class TransactionQueue<Work, Result> {
  readonly #options: QueueOptions<Work, Result>;
  #failures = 0;
  #lastFailure: unknown;
  readonly #queue = new BatchQueue<Step<Work, Result>>(async (steps) => {
    for (const batch of batchesOf(steps, ({ work }) => this.#options.sizeOf(work))) await this.#commit(batch);
  });

  constructor(options: QueueOptions<Work, Result>) {
    this.#options = options;
  }

  /** Resolves with the work's result once it is durable; rejects with what its transaction failed with. */
  add(work: Work): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#queue.add({ work, resolve, reject, failures: this.#failures });
    });
  }

  /** Resolves when everything that was added is durable or has failed. */
  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Settles every step, and never rejects. */
  async #commit(steps: readonly Step<Work, Result>[]): Promise<void> {
    const late = steps.filter(({ failures }) => failures < this.#failures);
    for (const { reject } of late) reject(this.#lastFailure);
    const rest = late.length === 0 ? steps : steps.filter((step) => !late.includes(step));
    if (rest.length > 0) await this.#commitOrSplit(rest);
  }

  async #commitOrSplit(steps: readonly Step<Work, Result>[]): Promise<void> {
    const startedAt = this.#options.clock.steady();
    try {
      const results = await this.#tried(steps.map(({ work }) => work));
      this.#options.onCommit?.(steps.length);
      steps.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      if (steps.length > 1 && isOfData(error)) {
        const middle = Math.ceil(steps.length / 2);
        await this.#commitOrSplit(steps.slice(0, middle));
        await this.#commitOrSplit(steps.slice(middle));
        return;
      }
      if (this.#isLong(startedAt)) {
        this.#failures += 1;
        this.#lastFailure = error;
      }
      for (const { reject } of steps) reject(error);
    }
  }

  #isLong(startedAt: number): boolean {
    return this.#options.clock.steady() - startedAt >= longFailureMs;
  }

  /** A conflict is tried again after a pause of random length, a connection that turns out to be dead at once. */
  async #tried(works: readonly Work[]): Promise<readonly Result[]> {
    const { connections, clock } = this.#options;
    const startedAt = clock.steady();
    let isCut = false;
    for (let conflicts = 0; ;) {
      try {
        return await connections.use((connection) =>
          orRollBack(connection, () => this.#transact(connection, works)),
        );
      } catch (error) {
        if (isConflict(error) && conflicts < maxConflicts) {
          conflicts += 1;
          await connections.use((connection) =>
            connection.run(sql`SELECT pg_sleep(0.002 + random() * 0.01)`),
          );
          continue;
        }
        if (isCut || this.#isLong(startedAt) || isAnswered(error) || error instanceof LostAnswerError)
          throw error;
        isCut = true;
      }
    }
  }

  async #transact(connection: Connection, works: readonly Work[]): Promise<readonly Result[]> {
    for (let plan = this.#options.planOf(works); ;) {
      const { questions } = plan;
      const rows = await openTransaction(connection, statements(...Object.values(questions)));
      const answers = Object.fromEntries(Object.keys(questions).map((name, i) => [name, rows[i] ?? []]));
      const decision = await plan.decide(answers, connection);
      if (decision.kind === 'write') {
        await commitOrLose(connection, decision.statements);
        return decision.results;
      }
      await connection.run(sql`ROLLBACK`);
      plan = decision.plan;
    }
  }
}

/** Whether the transaction was committed is not known. */
class LostAnswerError extends Error {}

async function commitOrLose(connection: Connection, change: Sql): Promise<void> {
  try {
    await runToCommit(connection, change);
  } catch (error) {
    if (isAnswered(error)) throw error;
    throw new LostAnswerError('whether it was committed is not known', { cause: error });
  }
}

function batchesOf<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  const batches: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = sizeOf(item);
    if (bytes + size > maxBatchBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(item);
    bytes += size;
  }
  return batches;
}
