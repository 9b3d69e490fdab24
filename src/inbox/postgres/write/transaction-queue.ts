import { BatchQueue } from '../../../files/group-commit.ts';
import { type Clock, slept } from '../../../time/clock.ts';
import type { Connection, Connections } from '../connection/database-connections.ts';
import { isAnswered, isConflict, isOfData } from '../postgres-errors.ts';
import { sql } from '../sql.ts';
import type { Confirmations } from './unconfirmed-commits.ts';
import {
  type Answers,
  answersIn,
  openTransaction,
  orRollBack,
  type Plan,
  runToCommit,
  type WriteDecision,
} from './transaction.ts';

/** What one transaction writes, in bytes as they came. */
const maxBatchBytes = 8 * 1024 * 1024;

/** How often a transaction is tried that meets others. */
const maxConflicts = 5;

/** A transaction that failed after so long, in milliseconds, has kept the works behind it waiting long enough. */
const longFailureMs = 1000;

/** Until what was accepted is said again where the database did not take it, in milliseconds: at first, and at most. */
const noteAgainMs = { first: 1000, most: 32_000 };

/** In place of a work: nothing is to be written but what is due. */
const onlyNote = Symbol('only the note');

interface Step<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Long failures before it was added. */
  readonly failures: number;
}

interface QueueOptions<Work, Result> {
  readonly connections: Connections;
  readonly confirmations: Confirmations;
  readonly planOf: (works: readonly Work[]) => Plan<Work, Result>;
  /** Bytes. */
  readonly sizeOf: (work: Work) => number;
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** Aborted when nothing more will be added. */
  readonly ended: AbortSignal;
  /** Told after each transaction how many works shared it. */
  readonly onCommit?: ((works: number) => void) | undefined;
}

/**
 * Transactions of many works, one after another, each in two messages to the database. Everything that is added while
 * one is under way goes in the next; while other receivers write, too, so does what comes in a short pause after it. A
 * transaction that fails because of its data is taken apart until only those works fail that cannot be stored.
 */
export class TransactionQueue<Work, Result> {
  readonly #options: QueueOptions<Work, Result>;
  readonly #pauseAfter: BatchPause;
  readonly #postponed = new Set<Promise<void>>();
  #waiting = 0;
  #failures = 0;
  #lastFailure: unknown;
  /** The next pause until what is due is said again, and whether it has begun. */
  #noteAgainMs = noteAgainMs.first;
  #isNoteWaiting = false;
  readonly #queue = new BatchQueue<Step<Work, Result> | typeof onlyNote>(async (batch) => {
    const startedAt = this.#options.clock.steady();
    const steps = batch.filter((step) => step !== onlyNote);
    this.#waiting -= steps.length;
    for (const batch of batchesOf(steps, ({ work }) => this.#options.sizeOf(work))) await this.#commit(batch);
    await this.#gather(steps.length, startedAt);
    if (this.#waiting === 0) await this.#confirm();
  });

  constructor(options: QueueOptions<Work, Result>) {
    this.#options = options;
    this.#pauseAfter = new BatchPause(options.clock);
  }

  /** Resolves with the work's result once it is durable; rejects with what its transaction failed with. */
  add(work: Work): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#push({ work, resolve, reject, failures: this.#failures });
    });
  }

  /** Resolves when everything that was added is durable or has failed. */
  async flush(): Promise<void> {
    do {
      await Promise.all(this.#postponed);
      await this.#queue.flush();
    } while (this.#postponed.size > 0);
  }

  #push(step: Step<Work, Result>): void {
    this.#waiting += 1;
    this.#pauseAfter.waiting(this.#waiting);
    this.#queue.add(step);
  }

  /** There is no pause where a single sender delivers one after another. */
  async #gather(committed: number, startedAt: number): Promise<void> {
    const { confirmations } = this.#options;
    if (!confirmations.isShared || Math.max(committed, this.#waiting) < 2) return;
    await this.#pauseAfter.wait(committed + this.#waiting, this.#options.clock.steady() - startedAt);
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
      const done = await this.#tried(steps.map(({ work }) => work));
      if (done.kind === 'write') {
        this.#options.onCommit?.(steps.length);
        steps.forEach(({ resolve }, i) => resolve(done.results[i] as Result));
        return;
      }
      this.#postpone(steps.filter(({ work }) => done.works.has(work)));
      const rest = steps.filter(({ work }) => !done.works.has(work));
      if (rest.length > 0) await this.#commitOrSplit(rest);
    } catch (error) {
      if (steps.length > 1 && isOfData(error)) {
        const middle = Math.ceil(steps.length / 2);
        await this.#commitOrSplit(steps.slice(0, middle));
        await this.#commitOrSplit(steps.slice(middle));
        return;
      }
      this.#noteFailure(error, startedAt);
      for (const { reject } of steps) reject(error);
    }
  }

  #noteFailure(error: unknown, startedAt: number): void {
    if (this.#options.clock.steady() - startedAt < longFailureMs) return;
    this.#failures += 1;
    this.#lastFailure = error;
  }

  /** A conflict is tried again after a pause of random length, a connection that turns out to be dead at once. */
  async #tried(
    works: readonly Work[],
  ): Promise<WriteDecision<Result> | { kind: 'not yet'; works: ReadonlySet<Work> }> {
    const startedAt = this.#options.clock.steady();
    let isCut = false;
    for (let conflicts = 0; ;) {
      try {
        return await this.#options.connections.use((connection) =>
          orRollBack(connection, () => this.#transact(connection, works)),
        );
      } catch (error) {
        if (isConflict(error) && conflicts < maxConflicts) {
          conflicts += 1;
          await this.#pause();
          continue;
        }
        const isLong = this.#options.clock.steady() - startedAt >= longFailureMs;
        if (isCut || isLong || isAnswered(error) || error instanceof LostAnswerError) throw error;
        isCut = true;
      }
    }
  }

  async #transact(
    connection: Connection,
    works: readonly Work[],
  ): Promise<WriteDecision<Result> | { kind: 'not yet'; works: ReadonlySet<Work> }> {
    for (let plan = this.#options.planOf(works); ;) {
      const decision = await plan.decide(await this.#asked(connection, plan), connection);
      if (decision.kind === 'write') {
        await this.#write(connection, decision);
        return decision;
      }
      await connection.run(sql`ROLLBACK`);
      if (decision.kind === 'not yet') return decision;
      plan = decision.plan;
    }
  }

  async #asked(connection: Connection, { question }: Plan<Work, Result>): Promise<Answers> {
    const { confirmations } = this.#options;
    const [rows] = await openTransaction(connection, question, confirmations.beforeNext);
    confirmations.said();
    const answers = answersIn(rows);
    confirmations.heard(answers['unconfirmed'] ?? []);
    return answers;
  }

  async #write(
    connection: Connection,
    { statements: change, accepted }: WriteDecision<Result>,
  ): Promise<void> {
    const { confirmations, clock } = this.#options;
    const since = clock.steady();
    let isCommitted = false;
    try {
      await runToCommit(connection, change);
      isCommitted = true;
      if (!(await confirmations.isOurs(connection, accepted, { clock, since })))
        throw new Error('others took the leads over');
    } catch (error) {
      if (!isCommitted && isAnswered(error)) throw error;
      confirmations.lostAnswer(accepted);
      throw new LostAnswerError('whether it was committed is not known', { cause: error });
    }
    confirmations.committed(accepted);
  }

  /** That leads were accepted, when no transaction follows that could say it. */
  async #confirm(): Promise<void> {
    const { confirmations, connections, clock } = this.#options;
    const { due } = confirmations;
    if (due === undefined) return;
    const startedAt = clock.steady();
    for (let isCut = false; ; isCut = true) {
      try {
        await connections.use((connection) => connection.run(due));
        confirmations.said();
        this.#noteAgainMs = noteAgainMs.first;
        return;
      } catch (error) {
        const isLong = clock.steady() - startedAt >= longFailureMs;
        if (!isCut && !isLong && !isAnswered(error)) continue;
        // The next transaction says it, or a later try; what waited for it meanwhile has waited long enough.
        this.#noteFailure(error, startedAt);
        void this.#noteLater();
        return;
      }
    }
  }

  /** In turn: a transaction under way has accepted leads that its queue does not know of yet. */
  async #noteLater(): Promise<void> {
    if (this.#isNoteWaiting) return;
    this.#isNoteWaiting = true;
    const { clock, ended } = this.#options;
    const isDue = await slept(clock, this.#noteAgainMs, ended);
    this.#isNoteWaiting = false;
    this.#noteAgainMs = Math.min(2 * this.#noteAgainMs, noteAgainMs.most);
    if (isDue) this.#queue.add(onlyNote);
  }

  /** One pause for all: each takes a connection. */
  #postpone(steps: readonly Step<Work, Result>[]): void {
    const postponed = this.#pause()
      .then(
        () => steps.forEach((step) => this.#push(step)),
        (error: unknown) => steps.forEach(({ reject }) => reject(error)),
      )
      .finally(() => this.#postponed.delete(postponed));
    this.#postponed.add(postponed);
  }

  /** By the database's clock, which every receiver shares. */
  async #pause(): Promise<void> {
    await this.#options.connections.use((connection) =>
      connection.run(sql`SELECT pg_sleep(0.002 + random() * 0.01)`),
    );
  }
}

/** Whether the transaction was committed is not known. */
export class LostAnswerError extends Error {}

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

/** Of the time that the transaction before took. */
const share = 0.5;

/** In milliseconds. */
const longest = 20;
const shortest = 1;

/**
 * The pause between two transactions of one queue, in which those that were just answered come again: while other
 * receivers write to the same database, many small transactions would cost all of them more time than one pause.
 */
class BatchPause {
  readonly #clock: Pick<Clock, 'sleep'>;
  #enough = 0;
  #end: AbortController | undefined;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Resolves when `enough` works wait, or after a share of `tookMs`, the time of the last transaction. */
  async wait(enough: number, tookMs: number): Promise<void> {
    const ms = Math.min(tookMs * share, longest);
    if (ms < shortest) return;
    const end = new AbortController();
    this.#enough = enough;
    this.#end = end;
    await this.#clock.sleep(ms, end.signal).catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
    this.#end = undefined;
  }

  /** So many wait now. */
  waiting(works: number): void {
    if (works >= this.#enough) this.#end?.abort();
  }
}
