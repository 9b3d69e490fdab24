import { BatchQueue } from '../../files/group-commit.ts';
import type { Clock } from '../../time/clock.ts';
import { type Arrival, CannotStoreError } from '../inbox.ts';
import type { Database } from './libsql.ts';
import { sqliteCode } from './sqlite-errors.ts';

/** How long a step waits for another process's transaction, in milliseconds. */
const lockWaitMs = 5000;

/** Between two attempts to begin a transaction, in milliseconds. */
const lockPollMs = 20;

/** These hold for the whole database: a smaller transaction would fail with the same. */
const wholeDatabaseCodes = /^SQLITE_(FULL|READONLY|NOTADB|CANTOPEN|PROTOCOL)/;

interface Step<Writer> {
  /** What it takes in. */
  readonly arrivals: readonly Arrival[];
  readonly run: (writer: Writer) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** When it gives up waiting for a lock, by the steady clock. */
  readonly deadline: number;
}

interface BatchCommitOptions<Writer> {
  readonly database: Database;
  /** Called again after a transaction that failed, since its statements may not work any more. */
  readonly createWriter: () => Writer;
  readonly clock: Clock;
  /** Asked after each transaction: throws a `CannotStoreError` when the file is not in place any more. */
  readonly verify: () => void;
  /** What the caller of a step that failed with this is told. */
  readonly failure: (error: unknown) => Error;
  /** Told after each transaction how many steps shared it. */
  readonly onCommit?: ((steps: number) => void) | undefined;
}

/** Is told before the steps of a transaction what all of them take in, and after them that they are over. */
interface BatchWriter {
  begin(now: number, arrivals: readonly Arrival[]): void;
  end(): void;
}

const nothing: readonly Arrival[] = [];

/**
 * Transactions of many steps, so that they share one sync. A batch that fails is taken apart until only those steps fail
 * that cannot be stored. Nothing here blocks the event loop while another process writes.
 */
export class BatchCommit<Writer extends BatchWriter> {
  readonly #options: BatchCommitOptions<Writer>;
  #writer: Writer | undefined;
  readonly #queue = new BatchQueue<Step<Writer>>((steps) => this.#commit(steps));

  constructor(options: BatchCommitOptions<Writer>) {
    this.#options = options;
  }

  /** Resolves with what `run` returned once it is durable; rejects with the `failure` of it or of its transaction. */
  add<T>(run: (writer: Writer) => T, arrivals = nothing): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#options.clock.steady() + lockWaitMs;
      const settle = { resolve: resolve as Step<Writer>['resolve'], reject };
      this.#queue.add({ arrivals, run, ...settle, deadline });
    });
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Settles every step, and never rejects. */
  async #commit(steps: readonly Step<Writer>[]): Promise<void> {
    const locked = await this.#begin(steps);
    if (locked.length === 0) return;
    const failure = this.#transact(locked);
    if (failure === undefined) return;
    if (locked.length === 1 || isOfWholeDatabase(failure.error)) {
      this.#reject(locked, failure.error);
      return;
    }
    const middle = Math.ceil(locked.length / 2);
    await this.#commit(locked.slice(0, middle));
    await this.#commit(locked.slice(middle));
  }

  /** Begins a transaction. Returns the steps that could wait so long; none when it could not begin. */
  async #begin(steps: readonly Step<Writer>[]): Promise<readonly Step<Writer>[]> {
    const { database, clock } = this.#options;
    for (let waiting = steps; ;) {
      try {
        database.exec('BEGIN IMMEDIATE');
        return waiting;
      } catch (error) {
        const isBusy = sqliteCode(error).startsWith('SQLITE_BUSY');
        const gaveUp = waiting.filter(({ deadline }) => !isBusy || clock.steady() >= deadline);
        this.#reject(gaveUp, error);
        waiting = waiting.filter((step) => !gaveUp.includes(step));
        if (waiting.length === 0) return waiting;
      }
      await clock.sleep(lockPollMs);
    }
  }

  /** Runs the steps inside the open transaction. Returns what failed; nothing is stored then. */
  #transact(steps: readonly Step<Writer>[]): { readonly error: unknown } | undefined {
    const { database, createWriter, clock, verify, onCommit } = this.#options;
    try {
      const writer = (this.#writer ??= createWriter());
      writer.begin(
        clock.now(),
        steps.flatMap(({ arrivals }) => arrivals),
      );
      const results = steps.map(({ run }) => run(writer));
      writer.end();
      database.exec('COMMIT');
      verify();
      onCommit?.(steps.length);
      steps.forEach(({ resolve }, i) => resolve(results[i]));
      return undefined;
    } catch (error) {
      this.#writer = undefined;
      return { error: this.#rollBack() ?? error };
    }
  }

  #reject(steps: readonly Step<Writer>[], error: unknown): void {
    for (const { reject } of steps) reject(this.#options.failure(error));
  }

  /** The database may have rolled back by itself, as it does when the disk is full. Returns what failed now. */
  #rollBack(): unknown {
    const { database } = this.#options;
    try {
      if (database.inTransaction) database.exec('ROLLBACK');
      return undefined;
    } catch (secondError) {
      // That the rollback failed, too, is the more serious error.
      return secondError;
    }
  }
}

const isOfWholeDatabase = (error: unknown): boolean =>
  error instanceof CannotStoreError || wholeDatabaseCodes.test(sqliteCode(error));
