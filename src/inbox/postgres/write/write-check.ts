import { randomBytes, randomUUID } from 'node:crypto';
import type { Arrival } from '../../inbox.ts';
import type { StoreOptions } from '../../store-options.ts';
import { requireRights, rightsQuestion } from '../open-schema.ts';
import { sqlState } from '../postgres-errors.ts';
import { sql, statements } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { LeasePlan, leaseWork } from './lease-plan.ts';
import { TakePlan } from './take-plan.ts';
import { takeWork } from './take-queries.ts';
import { answersIn, commit, type Decision, inTransaction, type WriteDecision } from './transaction.ts';

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Finds out whether the next delivery can be made durable. */
export class WriteCheck {
  readonly #context: StoreContext;
  readonly #options: Pick<StoreOptions, 'redact' | 'clock'>;
  #hasFailed = false;
  #isFull = false;

  constructor(context: StoreContext, options: Pick<StoreOptions, 'redact' | 'clock'>) {
    this.#context = context;
    this.#options = options;
  }

  /** A write failed with what the database threw. */
  failed(error: unknown): void {
    this.#hasFailed = true;
    if (sqlState(error) === '53100') this.#isFull = true;
  }

  /**
   * Writes what a delivery writes, and what ends the leases of its leads, and rolls it back. Once a write failed, something is
   * committed as well.
   */
  async run(): Promise<void> {
    if (this.#hasFailed) await this.#commit();
    const context = this.#context;
    const { connections, schema, storedName } = context;
    const { clock, redact } = this.#options;
    const delivery = {
      method: 'POST',
      path: '/',
      url: 'https://localhost/',
      rawHeaders: [],
      body: Buffer.from('[{},{}]'),
      remote: '',
      receivedAt: clock.now(),
    };
    const nonce = randomUUID();
    const leads = [1, 4].map((start): Arrival => {
      const place = { start, end: start + 2 };
      return { delivery, leadId: randomUUID(), place, createdAt: undefined, source: 'push', nonce };
    });
    // Of the real sequence each probe would take two numbers, for which a delivery needs a right as well.
    const take = new TakePlan([takeWork(leads, redact)], { ...context, isProbe: true, notes: () => [] });
    const questions = statements(rightsQuestion(schema), take.question);
    await inTransaction(connections, questions, async (connection, found) => {
      requireRights(found, schema, connections.location);
      const taken = written(await take.decide(answersIn(found[1]), connection));
      const result = { ok: true, answer: '', durationMs: 0, at: clock.now() };
      const [done = [], dead = []] = taken.results
        .flat()
        .map((one) =>
          one.kind === 'rejected'
            ? []
            : context.options.targets
                .slice(0, 1)
                .map((target) => ({ ...one, target, result, dead: true as const })),
        );
      const works = [leaseWork('done', done, storedName), leaseWork('release', dead, storedName)];
      const settle = new LeasePlan(works, context);
      const asked = await connection.run(statements(taken.statements, settle.question));
      const { statements: change } = written(await settle.decide(answersIn(asked.at(-1))));
      await connection.run(statements(change, sql`ROLLBACK;`));
    });
  }

  /** A few bytes always fit somewhere, so that once a disk was full, as much as a delivery may have is written. */
  async #commit(): Promise<void> {
    const { connections, schema } = this.#context;
    const filler = this.#isFull ? sql`${randomBytes(roomBytes)}` : sql`NULL`;
    await commit(
      connections,
      sql`UPDATE ${schema}.write_checks SET number = number + 1, filler = ${filler};`,
    );
    this.#hasFailed = false;
    this.#isFull = false;
  }
}

function written<Result>(decision: Decision<Result>): WriteDecision<Result> {
  if (decision.kind !== 'write') throw new Error('leads that nobody has are known');
  return decision;
}
