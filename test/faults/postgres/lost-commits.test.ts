import { afterEach, describe, expect, it } from 'vitest';
import { CannotStoreError, type Inbox, type TakeResult } from '../../../src/inbox/inbox.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { inboxIn } from '../../inbox/postgres/database.ts';
import { arrivalOf } from '../../inbox/support.ts';
import { full } from '../../support/faults.ts';
import { seeded } from '../../support/faulty-service.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';

const histories = full ? 60 : 4;
const steps = 60;
/** New leads come while others are delivered again: so many steps to the next one. */
const stepsToNext = 2;
/** Long enough that no lease ends within a step. */
const leaseMs = 1500;

const address = await sharedPostgres();

interface Pending {
  readonly leadId: string;
  readonly seq: number;
  readonly target: string;
}

interface Receiver {
  readonly proxy: TcpProxy;
  readonly inbox: Inbox;
  /** What it was granted, and has not settled or released. */
  pending: Pending[];
  /** Leads of the last steps that it was told are accepted, which it may not have noted yet. */
  readonly told: { readonly leadId: string; readonly step: number }[];
}

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

/** Receivers of one inbox whose connections break in front of a COMMIT's answer, and who are killed. */
class History {
  readonly #random: () => number;
  readonly #database: ReturnType<typeof inboxIn>;
  readonly #targets: readonly string[];
  readonly #receivers: Receiver[] = [];
  /** By lead: the deliveries whose senders or receivers were told that it is accepted. */
  readonly #told = new Map<string, number[]>();
  /** By delivery: the last verdict that was told. */
  readonly #answers = new Map<number, { readonly leadId: string; readonly verdict: string }>();
  /** Leads whose acceptance may not have been noted when their receiver was killed. */
  readonly #unnoted = new Set<string>();
  readonly #known = new Set<string>();
  #step = 0;
  #lost = 0;

  constructor(random: () => number, database: ReturnType<typeof inboxIn>, targets: readonly string[]) {
    this.#random = random;
    this.#database = database;
    this.#targets = targets;
  }

  /** Resolves to the number of answers that were lost. */
  async run(): Promise<number> {
    for (let i = 0; i < 3; i += 1) await this.#start();
    for (; this.#step < steps; this.#step += 1) {
      if (this.#random() < 0.04) await this.#kill();
      const works = Array.from({ length: this.#random() < 0.5 ? 1 : 3 }, () => this.#one());
      await Promise.all(works);
      await this.#check();
    }
    await this.#heal();
    return this.#lost;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick');
    return picked;
  }

  /** One of the newest three. */
  #leadId(): string {
    return `lead-${Math.max(0, Math.floor(this.#step / stepsToNext) - Math.floor(this.#random() * 3))}`;
  }

  async #start(): Promise<void> {
    if (address === undefined) throw new Error('no database');
    const proxy = await TcpProxy.start(address);
    const location = this.#database.location({ port: proxy.port });
    const inbox = await openInbox({ clock: systemClock, location, targets: this.#targets, leaseMs });
    clean.push(async () => {
      await proxy.stop();
      await inbox.close().catch(() => undefined);
    });
    this.#receivers.push({ proxy, inbox, pending: [], told: [] });
  }

  /** Nothing of it reaches the database any more. */
  async #kill(): Promise<void> {
    const [killed] = this.#receivers.splice(Math.floor(this.#random() * this.#receivers.length), 1);
    if (killed === undefined) return;
    if (this.#random() < 0.5) {
      const under = this.#take(killed).catch(() => undefined);
      await systemClock.sleep(this.#random() * 10);
      killed.proxy.hold();
      killed.proxy.cut();
      await Promise.race([under, systemClock.sleep(1)]);
    }
    killed.proxy.hold();
    killed.proxy.cut();
    for (const { leadId, step } of killed.told) if (step >= this.#step - 2) this.#unnoted.add(leadId);
    await this.#start();
  }

  async #one(): Promise<void> {
    const receiver = this.#pick(this.#receivers);
    const fault = this.#random();
    if (fault < 0.25) void receiver.proxy.loseNextCommit().then(() => (this.#lost += 1));
    try {
      const kind = this.#random();
      const work =
        kind < 0.6 || receiver.pending.length === 0
          ? this.#take(receiver)
          : kind < 0.9
            ? this.#settle(receiver)
            : this.#release(receiver);
      if (fault > 0.95) {
        work.catch(() => undefined);
        await systemClock.sleep(this.#random() * 8);
        receiver.proxy.cut();
      }
      await work;
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
    }
  }

  async #take(receiver: Receiver, leads?: readonly string[]): Promise<readonly TakeResult[]> {
    const leadIds = leads ?? Array.from({ length: this.#random() < 0.7 ? 1 : 3 }, () => this.#leadId());
    for (const id of leadIds) this.#known.add(id);
    const results = await receiver.inbox.take(leadIds.map((id) => arrivalOf({ id })));
    for (const result of results) {
      if (result.kind === 'rejected') throw new Error(`rejected: ${result.detail}`);
      const { leadId, seq, kind } = result;
      this.#hear(receiver, { leadId, seq }, kind);
      if (kind !== 'pending') continue;
      receiver.pending.push(...result.targets.map(({ name: target }) => ({ leadId, seq, target })));
    }
    return results;
  }

  /** What a receiver does once targets have had leads. It tries once; afterwards a delivery or a retry does. */
  async #settle(receiver: Receiver): Promise<void> {
    const leases = receiver.pending.filter(() => this.#random() < 0.6);
    receiver.pending = receiver.pending.filter((one) => !leases.includes(one));
    const verdicts = await receiver.inbox.settle(leases);
    leases.forEach((lease, i) => this.#hear(receiver, lease, verdicts[i] ?? ''));
  }

  async #release(receiver: Receiver): Promise<void> {
    const leases = receiver.pending.splice(0);
    await receiver.inbox.release(leases);
  }

  #hear(receiver: Receiver, { leadId, seq }: Pick<Pending, 'leadId' | 'seq'>, verdict: string): void {
    if (verdict === 'pending') return;
    // Of two targets one accepts the delivery, and the other one finds it accepted.
    if (this.#answers.get(seq)?.verdict !== 'accepted') this.#answers.set(seq, { leadId, verdict });
    if (verdict !== 'accepted') return;
    receiver.told.push({ leadId, step: this.#step });
    this.#told.set(leadId, [...(this.#told.get(leadId) ?? []), seq]);
  }

  async #check(): Promise<void> {
    const rows = await this.#database.query(
      `SELECT convert_from(lead, 'UTF8') AS lead, count(*)::int FROM S.deliveries WHERE verdict = 'accepted' GROUP BY 1 HAVING count(*) > 1`,
    );
    expect([...rows], 'accepted more than once').toEqual([]);
    for (const [leadId, seqs] of this.#told) {
      if (!this.#unnoted.has(leadId)) expect(seqs, `told of ${leadId}`).toHaveLength(1);
    }
  }

  /** Every lead is delivered again until it is answered, by receivers whose connections hold. */
  async #heal(): Promise<void> {
    const [first] = this.#receivers;
    if (first === undefined) throw new Error('there is no receiver');
    for (const leadId of this.#known) {
      for (let isAnswered = false; !isAnswered;) {
        try {
          const [result] = await this.#take(first, [leadId]);
          if (first.pending.length > 0) {
            const leases = first.pending.splice(0);
            const verdicts = await first.inbox.settle(leases);
            leases.forEach((lease, i) => this.#hear(first, lease, verdicts[i] ?? ''));
          }
          isAnswered = result?.kind === 'accepted' || result?.kind === 'duplicate';
          if (!isAnswered) await systemClock.sleep(20);
        } catch (error) {
          // A fault that was still to come.
          if (!(error instanceof CannotStoreError)) throw error;
        }
      }
    }
    await this.#check();
    expect(
      [...this.#known].filter((leadId) => !this.#told.has(leadId)),
      'nobody was told of',
    ).toEqual([]);
    const rows = await this.#database.query(`SELECT seq::int, verdict FROM S.deliveries`);
    const stored = new Map(rows.map(({ seq, verdict }) => [Number(seq), String(verdict)]));
    const changed = [...this.#answers]
      .filter(([seq, { leadId, verdict }]) => stored.get(seq) !== verdict && !this.#unnoted.has(leadId))
      .map(([seq, answer]) => ({ ...answer, stored: stored.get(seq) }));
    expect(changed, 'stored otherwise than it was answered').toEqual([]);
    expect((await this.#database.query('SELECT 1 FROM S.outstanding')).length, 'outstanding').toBe(0);
  }
}

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('receivers whose COMMITs lose their answers, or are never made', () => {
    const first = Math.floor(Math.random() * 1e9);
    it.each(Array.from({ length: histories }, (_, i) => first + i))(
      'accept each lead once, and somebody knows it: history %i',
      async (seed) => {
        const targets = [[], ['t'], ['t', 'u']][seed % 3] ?? [];
        expect(await new History(seeded(seed), inboxIn(address), targets).run()).toBeGreaterThan(5);
      },
    );
  });
}
