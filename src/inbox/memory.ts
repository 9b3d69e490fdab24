import { hash } from 'node:crypto';
import type { Clock } from '../context.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { type Rejection, rejection } from '../webhook/verdict.ts';
import { differences } from './differences.ts';
import type { Arrival, Entry, Inbox, InboxQuery, StoredDelivery, StoredLead, Taken } from './inbox.ts';
import { rejectedBody, rejectedKept, type Conceal } from './writer.ts';

interface Lead {
  readonly seq: number;
  readonly firstAt: number;
  attempts: number;
  accepted: boolean;
  /** Of the first payload. */
  readonly digest: string;
  /** Targets that have had it. */
  done: readonly string[];
}

type Row = Omit<StoredDelivery, 'path' | 'headers' | 'remote' | 'method' | 'receivedAt' | 'body'> & {
  readonly delivery: Delivery;
};

export interface MemoryInboxOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly targets: readonly string[];
  readonly nonceLifetimeMs: number;
  readonly conceal: Conceal;
}

/** Of deliveries that were taken in: how many are kept whole. Of all others the id stays, as after a `prune`. */
const takenKept = 1000;

/** The store behind `:memory:`: gone with the process, at several times the pace of a database. */
export class MemoryInbox implements Inbox {
  readonly place = ':memory:';
  readonly #options: MemoryInboxOptions;
  readonly #leads = new Map<string, Lead>();
  readonly #rows = new Map<number, Row>();
  readonly #taken = new Ring(takenKept);
  readonly #rejected = new Ring(rejectedKept);
  /** By nonce, oldest first. */
  readonly #nonces = new Map<string, { readonly digest: string; readonly expires: number }>();
  #seq = 0;

  constructor(options: MemoryInboxOptions) {
    this.#options = options;
  }

  take(arrivals: readonly Arrival[]): Promise<readonly Taken[]> {
    return Promise.resolve(arrivals.map((arrival) => this.#take(arrival)));
  }

  #take(arrival: Arrival): Taken {
    const { delivery, leadId, nonce } = arrival;
    const digest = hash('sha256', delivery.body, 'base64');
    if (nonce !== undefined && !this.#bind(nonce, digest)) {
      const replayed = rejection('replayed_nonce', 'the nonce came before, with another body');
      this.#keepRejected(delivery, replayed, leadId);
      return replayed;
    }
    const seq = this.#seq + 1;
    const known = this.#leads.get(leadId);
    const attempt = (known?.attempts ?? 0) + 1;
    const lead = known ?? this.#add(leadId, seq, delivery.receivedAt, digest);
    lead.attempts = attempt;
    const differs = lead.digest === digest ? undefined : this.#differences(lead, delivery.body);
    const targets = this.#options.targets.filter((target) => !lead.done.includes(target));
    const kind = targets.length > 0 ? 'pending' : lead.accepted ? 'duplicate' : 'accepted';
    if (kind === 'accepted') lead.accepted = true;
    this.#keep(
      arrival,
      { verdict: kind, status: kind === 'pending' ? 502 : 200, attempt, differs },
      this.#taken,
    );
    const more = { leadId, seq, attempt, firstAt: lead.firstAt, ...(differs !== undefined && { differs }) };
    return kind === 'pending' ? { kind, ...more, targets, busy: false } : { kind, ...more };
  }

  #add(leadId: string, seq: number, firstAt: number, digest: string): Lead {
    const lead: Lead = { seq, firstAt, attempts: 0, accepted: false, digest, done: [] };
    this.#leads.set(leadId, lead);
    return lead;
  }

  #differences({ seq }: Lead, given: Uint8Array): readonly string[] | undefined {
    const first = this.#rows.get(seq);
    if (first === undefined) return ['*'];
    const names = differences(first.delivery.body, given);
    return names.length === 0 ? undefined : names;
  }

  /** False when the nonce is bound to another body. */
  #bind(nonce: string, digest: string): boolean {
    const now = this.#options.clock.now();
    const bound = this.#nonces.get(nonce);
    if (bound !== undefined && bound.expires > now) return bound.digest === digest;
    for (const [old, { expires }] of this.#nonces) {
      if (expires > now) break;
      this.#nonces.delete(old);
    }
    this.#nonces.set(nonce, { digest, expires: now + this.#options.nonceLifetimeMs });
    return true;
  }

  reject(delivery: Delivery, refused: Rejection, leadId?: string): Promise<void> {
    this.#keepRejected(delivery, refused, leadId);
    return Promise.resolve();
  }

  #keepRejected(delivery: Delivery, { status, reason, detail }: Rejection, leadId: string | undefined): void {
    // A copy, since a part would hold on to the whole.
    const body = Buffer.from(delivery.body.subarray(0, rejectedBody));
    const what = { verdict: 'rejected', status, attempt: 1, reason, detail } as const;
    this.#keep({ delivery: { ...delivery, body }, leadId }, what, this.#rejected);
  }

  #keep(
    { delivery, leadId, source = 'push' }: Omit<Arrival, 'leadId'> & { leadId: string | undefined },
    what: Pick<Row, 'verdict' | 'status' | 'attempt'> & Partial<Row>,
    ring: Ring,
  ): void {
    this.#seq += 1;
    const { verdict, status, attempt, reason, detail, differs } = what;
    const seq = this.#seq;
    this.#rows.set(seq, { seq, delivery, leadId, source, verdict, status, attempt, reason, detail, differs });
    this.#rows.delete(ring.replace(seq));
  }

  settle({ leadId, seq }: Entry, target: string): Promise<'accepted' | 'duplicate' | 'pending'> {
    const lead = this.#leads.get(leadId);
    if (lead === undefined) return Promise.resolve('pending');
    lead.done = [...lead.done, target];
    if (!this.#options.targets.every((one) => lead.done.includes(one))) return Promise.resolve('pending');
    const verdict = lead.accepted ? 'duplicate' : 'accepted';
    lead.accepted = true;
    const row = this.#rows.get(seq);
    if (row?.verdict === 'pending') this.#rows.set(seq, { ...row, verdict, status: 200 });
    return Promise.resolve(verdict);
  }

  /** Nobody else could have claimed it. */
  release(): Promise<void> {
    return Promise.resolve();
  }

  unsettled(target: string): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    if (this.#options.targets.includes(target)) {
      for (const [leadId, { seq, done }] of this.#leads)
        if (!done.includes(target)) found.push({ leadId, seq });
    }
    return Promise.resolve(found);
  }

  async *list(query: InboxQuery): AsyncGenerator<StoredDelivery> {
    const { conceal } = this.#options;
    for (const { delivery, ...row } of [...this.#rows.values()].reverse()) {
      if (!matches(row, delivery, query)) continue;
      const { method, remote, receivedAt, body } = delivery;
      const path = conceal.path(delivery);
      yield { ...row, method, remote, receivedAt, body, path, headers: conceal.headers(delivery) };
    }
    await Promise.resolve();
  }

  async *leads(query: Pick<InboxQuery, 'since' | 'until'>): AsyncGenerator<StoredLead> {
    for (const [leadId, { seq, accepted }] of this.#leads) {
      const row = this.#rows.get(seq);
      if (!accepted || row === undefined || !matches(row, row.delivery, query)) continue;
      const { receivedAt, body } = row.delivery;
      yield { leadId, seq, receivedAt, source: row.source, body };
    }
    await Promise.resolve();
  }

  has(leadId: string): Promise<boolean> {
    return Promise.resolve(this.#leads.get(leadId)?.accepted === true);
  }

  prune(before: number): Promise<number> {
    let dropped = 0;
    for (const [seq, { delivery, leadId }] of this.#rows) {
      const lead = leadId === undefined ? undefined : this.#leads.get(leadId);
      const first = lead?.seq === seq ? lead : undefined;
      if (delivery.receivedAt >= before || first?.accepted === false) continue;
      this.#rows.delete(seq);
      dropped += 1;
    }
    return Promise.resolve(dropped);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function matches(
  { verdict, leadId, seq }: Pick<Row, 'verdict' | 'leadId' | 'seq'>,
  { receivedAt }: Delivery,
  query: InboxQuery,
): boolean {
  return (
    (query.verdicts?.includes(verdict) ?? true) &&
    (query.leadId === undefined || query.leadId === leadId) &&
    (query.seq === undefined || query.seq === seq) &&
    (query.since === undefined || receivedAt >= query.since) &&
    (query.until === undefined || receivedAt < query.until)
  );
}

/** The last so many numbers. */
class Ring {
  readonly #places: number[];
  #next = 0;

  constructor(size: number) {
    this.#places = new Array<number>(size).fill(0);
  }

  /** Puts a number in the oldest one's place, and gives that one. */
  replace(number: number): number {
    const oldest = this.#places[this.#next] ?? 0;
    this.#places[this.#next] = number;
    this.#next = (this.#next + 1) % this.#places.length;
    return oldest;
  }
}
