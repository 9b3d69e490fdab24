import type { Clock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import { toColumn } from './column.ts';
import { type Database, openDatabase } from './database.ts';
import { claimant, freeDeadClaims } from './lease-owner.ts';
import { cannotOpen, cannotStore } from './sqlite-errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import type { Arrival, Entry, Inbox, InboxQuery, StoredDelivery, StoredLead, TakeResult } from '../inbox.ts';
import { MemoryInbox } from '../memory/memory-inbox.ts';
import { prune } from './prune.ts';
import { deliveries, leads } from './reader.ts';
import { type RedactDelivery, Writer, type WriterOptions } from './writer.ts';

export interface InboxOptions extends Partial<Omit<WriterOptions, 'owner'>> {
  /** A file, or `:memory:`. */
  readonly place: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Of this process; needed where there are targets. */
  readonly pid?: number | undefined;
}

/** Bounds what a flood of refused deliveries can hold in memory before it is stored. */
const rejectsWaiting = 1000;

const nothing: RedactDelivery = { path: ({ path }) => path, headers: ({ rawHeaders }) => rawHeaders };

interface Counts {
  nonces: number;
  rejected: number;
}

type Step = (writer: Writer, now: number, counts: Counts) => unknown;

/** Throws a `ConfigError` when the file is damaged, unreadable, or of another program or a newer version. */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const { targets = [], nonceLifetimeMs = 0, conceal = nothing } = options;
  if (options.place === ':memory:') {
    return new MemoryInbox({ clock: options.clock, targets, nonceLifetimeMs, conceal });
  }
  const database = await openDatabase(options.place);
  try {
    const { pid = 0 } = options;
    await freeDeadClaims(database, pid);
    return new SqlInbox(database, { ...options, owner: await claimant(pid) });
  } catch (error) {
    database.close();
    throw cannotOpen(options.place, error);
  }
}

/** The default store: an embedded database, one transaction a batch, ids unique in the database itself. */
class SqlInbox implements Inbox {
  readonly place: string;
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #writer: Writer;
  readonly #group = new GroupCommit<Step, unknown>((steps) => this.#commit(steps));
  #rejectsWaiting = 0;

  constructor(database: Database, options: InboxOptions & { readonly owner: string }) {
    this.place = options.place;
    this.#database = database;
    this.#clock = options.clock;
    this.#writer = new Writer(database, {
      targets: options.targets ?? [],
      owner: options.owner,
      leaseMs: options.leaseMs ?? 0,
      nonceLifetimeMs: options.nonceLifetimeMs ?? 0,
      conceal: options.conceal ?? nothing,
    });
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add((writer, now, counts) =>
      arrivals.map((arrival) => {
        if (arrival.nonce !== undefined) counts.nonces += 1;
        const taken = writer.take(arrival, now);
        if (taken.kind === 'rejected') counts.rejected += 1;
        return taken;
      }),
    );
  }

  async reject(delivery: Delivery, rejection: Rejection, leadId?: string): Promise<void> {
    // Of a flood only the newest would stay anyway; losing some of it harms nobody.
    if (this.#rejectsWaiting >= rejectsWaiting) return;
    this.#rejectsWaiting += 1;
    try {
      await this.#add((writer, _, counts) => {
        counts.rejected += 1;
        writer.reject(delivery, rejection, leadId);
      });
    } finally {
      this.#rejectsWaiting -= 1;
    }
  }

  settle({ leadId, seq }: Entry, target: string): Promise<'accepted' | 'duplicate' | 'pending'> {
    return this.#add((writer) => writer.work.settle(toColumn(leadId), seq, target));
  }

  release({ leadId }: Entry, target: string): Promise<void> {
    return this.#add((writer) => writer.work.release(toColumn(leadId), target));
  }

  unsettled(target: string): Promise<readonly Entry[]> {
    return Promise.resolve(this.#writer.work.unsettled(target));
  }

  list(query: InboxQuery): AsyncIterable<StoredDelivery> {
    return deliveries(this.#database, query);
  }

  leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncIterable<StoredLead> {
    return leads(this.#database, query);
  }

  has(leadId: string): Promise<boolean> {
    const found = this.#database
      .prepare("SELECT 1 FROM leads WHERE id = ? AND state = 'accepted'")
      .get([toColumn(leadId)]);
    return Promise.resolve(found !== undefined);
  }

  async prune(before: number): Promise<number> {
    try {
      return await prune(this.#database, before);
    } catch (error) {
      throw cannotStore(this.place, error);
    }
  }

  async close(): Promise<void> {
    await this.#group.flush();
    this.#database.close();
  }

  #add<T>(step: (writer: Writer, now: number, counts: Counts) => T): Promise<T> {
    return this.#group.add(step) as Promise<T>;
  }

  #commit(steps: readonly Step[]): readonly unknown[] {
    const now = this.#clock.now();
    const counts = { nonces: 0, rejected: 0 };
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#writer.begin();
      const results = steps.map((step) => step(this.#writer, now, counts));
      this.#writer.end(now, counts);
      this.#database.exec('COMMIT');
      return results;
    } catch (error) {
      try {
        this.#rollBack();
      } catch (again) {
        // The database is worse off than the first error says.
        throw cannotStore(this.place, again);
      }
      throw cannotStore(this.place, error);
    }
  }

  /** The database may have rolled back by itself, as it does when the disk is full. */
  #rollBack(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
  }
}
