import { hash } from 'node:crypto';
import type { Clock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import { differing } from '../payload-diff.ts';
import { cannotStore } from '../sqlite/sqlite-errors.ts';
import { GroupCommit } from '../../files/group-commit.ts';
import type {
  Arrival,
  Entry,
  Inbox,
  InboxQuery,
  StoredDelivery,
  StoredLead,
  TakeResult,
  VerdictKind,
} from '../inbox.ts';
import { MemoryNonces } from './memory-nonces.ts';
import { rejectedBody, rejectedKept, replayedNonce } from '../rejects.ts';
import { bodyIn, headersIn, type Kept, keepApart, ByteArena } from './byte-arena.ts';
import type { WriterOptions } from '../sqlite/writer.ts';

type MemoryOptions = Pick<WriterOptions, 'targets' | 'nonceLifetimeMs' | 'conceal'> & {
  readonly clock: Pick<Clock, 'now'>;
};

interface Row extends Omit<StoredDelivery, 'verdict' | 'status' | 'headers' | 'body'> {
  verdict: VerdictKind;
  status: number;
  readonly kept: Kept;
}

type Verdict = Pick<Row, 'verdict' | 'status' | 'attempt'> &
  Partial<Pick<Row, 'reason' | 'detail' | 'differs'>>;

interface Lead {
  readonly seq: number;
  readonly firstAt: number;
  /** Of its first payload, once that was pruned. */
  digest: string | undefined;
  attempts: number;
  accepted: boolean;
  /** Targets that have not had it. */
  undone: readonly string[];
}

type Step = (now: number) => unknown;

/** `:memory:`: what came to this process, forgotten with it. The verdicts of the database without its cost. */
export class MemoryInbox implements Inbox {
  readonly place = ':memory:';
  readonly #options: MemoryOptions;
  readonly #nonces: MemoryNonces;
  readonly #slabs = new ByteArena();
  /** By number, and therefore in order. */
  readonly #rows = new Map<number, Row>();
  readonly #leads = new Map<string, Lead>();
  /** Numbers of the refused deliveries that are kept, oldest first. */
  readonly #rejects = new Set<number>();
  /**
   * Nothing has to be made durable, but answers that leave together wake their readers once: one by one, each would
   * cost more than all else that is done for its delivery.
   */
  readonly #group = new GroupCommit<Step, unknown>((steps) => this.#commit(steps));
  #seq = 0;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#nonces = new MemoryNonces(options.nonceLifetimeMs);
  }

  take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    return this.#add((now) => arrivals.map((arrival) => this.#take(arrival, now)));
  }

  /** At once: a flood of them must not wait in memory. */
  reject(delivery: Delivery, rejection: Rejection, leadId?: string): Promise<void> {
    try {
      this.#reject(delivery, rejection, leadId);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(cannotStore(this.place, error));
    }
  }

  settle(entry: Entry, target: string): Promise<Exclude<VerdictKind, 'rejected'>> {
    return this.#add(() => this.#settle(entry, target));
  }

  /** Nobody else can have been waiting for it. */
  release(): Promise<void> {
    return Promise.resolve();
  }

  unsettled(target: string): Promise<readonly Entry[]> {
    const open = [...this.#leads].filter(([, { undone }]) => undone.includes(target));
    return Promise.resolve(open.map(([leadId, { seq }]) => ({ leadId, seq })));
  }

  async *list(query: InboxQuery): AsyncGenerator<StoredDelivery> {
    for (const row of [...this.#rows.values()].reverse()) {
      const { kept, ...rest } = row;
      if (matches(row, query)) yield { ...rest, headers: headersIn(kept), body: bodyIn(kept) };
    }
    await Promise.resolve();
  }

  async *leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncGenerator<StoredLead> {
    for (const [leadId, { seq, accepted }] of [...this.#leads]) {
      const row = this.#rows.get(seq);
      if (!accepted || row === undefined || !matches(row, query)) continue;
      yield { leadId, seq, receivedAt: row.receivedAt, source: row.source, body: bodyIn(row.kept) };
    }
    await Promise.resolve();
  }

  has(leadId: string): Promise<boolean> {
    return Promise.resolve(this.#leads.get(leadId)?.accepted === true);
  }

  prune(before: number): Promise<number> {
    let total = 0;
    for (const { seq, leadId, receivedAt, kept } of this.#rows.values()) {
      const lead = leadId === undefined ? undefined : this.#leads.get(leadId);
      if (receivedAt >= before || (lead?.seq === seq && !lead.accepted)) continue;
      if (lead?.seq === seq) lead.digest = digestOf(bodyIn(kept));
      this.#rows.delete(seq);
      this.#rejects.delete(seq);
      total += 1;
    }
    return Promise.resolve(total);
  }

  close(): Promise<void> {
    return this.#group.flush();
  }

  #add<T>(step: (now: number) => T): Promise<T> {
    return this.#group.add(step) as Promise<T>;
  }

  #commit(steps: readonly Step[]): readonly unknown[] {
    const now = this.#options.clock.now();
    try {
      return steps.map((step) => step(now));
    } catch (error) {
      throw cannotStore(this.place, error);
    }
  }

  #take(arrival: Arrival, now: number): TakeResult {
    const { delivery, leadId, nonce } = arrival;
    if (nonce !== undefined && !this.#nonces.bind(nonce, digestOf(delivery.body), now)) {
      this.#reject(delivery, replayedNonce, leadId);
      return replayedNonce;
    }
    const known = this.#leads.get(leadId);
    if (known !== undefined) return this.#repeat(arrival, known);
    const { targets } = this.#options;
    const firstAt = delivery.receivedAt;
    const kind = targets.length > 0 ? 'pending' : 'accepted';
    const seq = this.#keep(arrival, { verdict: kind, status: statusOf(kind), attempt: 1 });
    const accepted = kind === 'accepted';
    this.#leads.set(leadId, { seq, firstAt, digest: undefined, attempts: 1, accepted, undone: targets });
    const taken = { leadId, seq, attempt: 1, firstAt };
    return kind === 'accepted' ? { kind, ...taken } : { kind, ...taken, targets, busy: false };
  }

  #repeat(arrival: Arrival, lead: Lead): TakeResult {
    const differs = this.#differences(lead, arrival.delivery.body);
    const kind = lead.undone.length > 0 ? 'pending' : 'duplicate';
    const attempt = lead.attempts + 1;
    const seq = this.#keep(arrival, { verdict: kind, status: statusOf(kind), attempt, differs });
    lead.attempts = attempt;
    const { leadId } = arrival;
    const taken = { leadId, seq, attempt, firstAt: lead.firstAt, ...(differs !== undefined && { differs }) };
    return kind === 'duplicate' ? { kind, ...taken } : { kind, ...taken, targets: lead.undone, busy: false };
  }

  #differences({ seq, digest }: Lead, body: Uint8Array): readonly string[] | undefined {
    const row = this.#rows.get(seq);
    const first = row === undefined ? undefined : bodyIn(row.kept);
    const isSame = first === undefined ? digestOf(body) === digest : Buffer.compare(first, body) === 0;
    return isSame ? undefined : differing(first, body);
  }

  #settle({ leadId, seq }: Entry, target: string): Exclude<VerdictKind, 'rejected'> {
    const lead = this.#leads.get(leadId);
    if (lead === undefined) throw new Error('no lead of this id is there to settle');
    lead.undone = lead.undone.filter((one) => one !== target);
    if (lead.undone.length > 0) return 'pending';
    const kind = lead.accepted ? 'duplicate' : 'accepted';
    lead.accepted = true;
    const row = this.#rows.get(seq);
    if (row?.verdict === 'pending') {
      row.verdict = kind;
      row.status = 200;
    }
    return kind;
  }

  #reject(delivery: Delivery, { status, reason, detail }: Rejection, leadId: string | undefined): void {
    const seq = this.#keep({ delivery, leadId }, { verdict: 'rejected', attempt: 1, status, reason, detail });
    this.#rejects.add(seq);
    const [oldest] = this.#rejects;
    if (oldest === undefined || this.#rejects.size <= rejectedKept) return;
    this.#rejects.delete(oldest);
    this.#rows.delete(oldest);
  }

  #keep(
    { delivery, leadId, source }: Omit<Arrival, 'leadId'> & { leadId: string | undefined },
    { verdict, status, attempt, reason, detail, differs }: Verdict,
  ): number {
    const { conceal } = this.#options;
    const headers = JSON.stringify(conceal.headers(delivery));
    const kept =
      verdict === 'rejected'
        ? keepApart(delivery.body.subarray(0, rejectedBody), headers)
        : this.#slabs.keep(delivery.body, headers);
    const { receivedAt, remote, method } = delivery;
    const path = conceal.path(delivery);
    const seq = (this.#seq += 1);
    const from = { source: source ?? 'push', remote, method, path } as const;
    this.#rows.set(seq, {
      seq,
      receivedAt,
      leadId,
      verdict,
      reason,
      detail,
      status,
      attempt,
      ...from,
      differs,
      kept,
    });
    return seq;
  }
}

const digestOf = (body: Uint8Array): string => hash('sha256', body, 'base64');

const statusOf = (kind: 'accepted' | 'duplicate' | 'pending'): number => (kind === 'pending' ? 502 : 200);

function matches(row: Row, { verdicts, leadId, seq, since, until }: InboxQuery): boolean {
  return (
    (seq === undefined || row.seq === seq) &&
    (leadId === undefined || row.leadId === leadId) &&
    (verdicts === undefined || verdicts.includes(row.verdict)) &&
    row.receivedAt >= (since ?? Number.NEGATIVE_INFINITY) &&
    row.receivedAt < (until ?? Number.POSITIVE_INFINITY)
  );
}
