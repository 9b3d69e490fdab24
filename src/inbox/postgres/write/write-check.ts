import { randomBytes, randomUUID } from 'node:crypto';
import type { Arrival, TakeResult } from '../../inbox.ts';
import type { StoreOptions } from '../../store-options.ts';
import { checkRights } from '../open-schema.ts';
import { sqlState } from '../postgres-errors.ts';
import { sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { TakePlan } from './take-plan.ts';
import { sizeOfWork, type TakeWork, takeWork } from './take-queries.ts';
import { TransactionQueue } from './transaction-queue.ts';
import { Confirmations } from './unconfirmed-commits.ts';
import { commit } from './write-guard.ts';

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Finds out whether the next delivery can be made durable. */
export class WriteCheck {
  readonly #context: StoreContext;
  readonly #options: Pick<StoreOptions, 'redact' | 'clock'>;
  readonly #probes: TransactionQueue<TakeWork, readonly TakeResult[]>;
  #hasFailed = false;
  #isFull = false;

  constructor(context: StoreContext, options: Pick<StoreOptions, 'redact' | 'clock'>) {
    this.#context = context;
    this.#options = options;
    // Of the real sequence each probe would take two numbers.
    const numbers = sql`-place - (random() * 1e12)::int8`;
    const confirmations = new Confirmations(context.schema, context.guard.terms);
    this.#probes = new TransactionQueue({
      ...context,
      ...options,
      confirmations,
      planOf: (works) => new TakePlan(works, { ...context, numbers, notes: () => [] }, confirmations),
      sizeOf: sizeOfWork,
      isRolledBack: true,
    });
  }

  /** A write failed with what the database threw. */
  failed(error: unknown): void {
    this.#hasFailed = true;
    if (sqlState(error) === '53100') this.#isFull = true;
  }

  /** Writes what a delivery writes, and rolls it back. Once a write failed, something is committed as well. */
  async run(): Promise<void> {
    if (this.#hasFailed) await this.#commit();
    const { connections, schema } = this.#context;
    // The probe draws no numbers, for which a delivery needs a right as well.
    await connections.use((connection) => checkRights(connection, schema, connections.location));
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
    await this.#probes.add(takeWork(leads, redact));
  }

  /** A few bytes always fit somewhere, so that once a disk was full, as much as a delivery may have is written. */
  async #commit(): Promise<void> {
    const { schema } = this.#context;
    const filler = this.#isFull ? sql`${randomBytes(roomBytes)}` : sql`NULL`;
    await commit(
      this.#context,
      sql`UPDATE ${schema}.write_checks SET number = number + 1, filler = ${filler};`,
    );
    this.#hasFailed = false;
    this.#isFull = false;
  }
}
