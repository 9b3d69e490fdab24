import { hash } from 'node:crypto';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import { toColumn } from './column.ts';
import type { Database, Row, Statement } from './database.ts';
import { differing } from '../payload-diff.ts';
import type { Arrival, TakeResult, VerdictKind } from '../inbox.ts';
import { Nonces } from './nonces.ts';
import { rejectedBody, rejectedKept, replayedNonce } from '../rejects.ts';
import { TargetLeases } from './target-leases.ts';

/** What may be stored and shown of a delivery's path and headers: everything but credentials. */
export interface RedactDelivery {
  readonly path: (delivery: Delivery) => string;
  readonly headers: (delivery: Delivery) => Delivery['rawHeaders'];
}

export interface WriterOptions {
  /** Everything that was asked for with each new lead. */
  readonly targets: readonly string[];
  /** How long a claim on such work holds when its claimer goes away, in milliseconds. */
  readonly leaseMs: number;
  readonly nonceLifetimeMs: number;
  /** How claims are signed (`claimant`). */
  readonly owner: string;
  readonly conceal: RedactDelivery;
}

interface Verdict {
  readonly kind: VerdictKind;
  readonly status: number;
  readonly attempt: number;
  readonly reason?: string;
  readonly detail?: string;
  readonly differs?: readonly string[] | undefined;
}

/** The statements that take deliveries in. Every method runs inside a transaction that the caller opened. */
export class Writer {
  readonly work: TargetLeases;
  readonly #options: WriterOptions;
  readonly #nonces: Nonces;
  readonly #lastSeq: Statement;
  readonly #keepSeq: Statement;
  readonly #addLead: Statement;
  readonly #findLead: Statement;
  readonly #countAttempt: Statement;
  readonly #addDelivery: Statement;
  readonly #bodyOf: Statement;
  readonly #trim: Statement;
  #seq = 0;

  constructor(database: Database, options: WriterOptions) {
    this.#options = options;
    this.work = new TargetLeases(database, options.targets, options.owner, options.leaseMs);
    this.#nonces = new Nonces(database, options.nonceLifetimeMs);
    this.#lastSeq = database.prepare('SELECT seq FROM counter');
    this.#keepSeq = database.prepare('UPDATE counter SET seq = ?');
    this.#addLead = database.prepare('INSERT INTO leads VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO NOTHING');
    this.#findLead = database.prepare(
      'SELECT seq, state, first_at, attempts, digest FROM leads WHERE id = ?',
    );
    this.#countAttempt = database.prepare('UPDATE leads SET attempts = attempts + 1 WHERE id = ?');
    this.#addDelivery = database.prepare(
      'INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#bodyOf = database.prepare('SELECT body FROM deliveries WHERE seq = ?');
    this.#trim = database.prepare(
      `DELETE FROM deliveries WHERE seq IN
       (SELECT seq FROM deliveries WHERE verdict = 'rejected' ORDER BY seq DESC LIMIT -1 OFFSET ${rejectedKept})`,
    );
  }

  /** Numbers are drawn from the database, since another receiver may have added some. */
  begin(): void {
    this.#seq = Number(this.#lastSeq.get([])?.['seq'] ?? 0);
  }

  end(now: number, counts: { readonly nonces: number; readonly rejected: number }): void {
    if (counts.nonces > 0) this.#nonces.clear(now, counts.nonces);
    if (counts.rejected > 0) this.#trim.run([]);
    this.#keepSeq.run([this.#seq]);
  }

  take(arrival: Arrival, now: number): TakeResult {
    const { delivery, nonce } = arrival;
    const id = toColumn(arrival.leadId);
    const digest = hash('sha256', delivery.body, 'buffer');
    if (nonce !== undefined && !this.#nonces.bind(nonce, digest, now)) {
      this.reject(delivery, replayedNonce, arrival.leadId);
      return replayedNonce;
    }
    const seq = this.#seq + 1;
    const state = this.#options.targets.length > 0 ? 'pending' : 'accepted';
    if (this.#addLead.run([id, seq, state, delivery.receivedAt, digest]).changes === 1) {
      const { targets } = this.work.claim(id, now);
      this.#add(arrival, { kind: state, status: state === 'pending' ? 502 : 200, attempt: 1 });
      const known = { leadId: arrival.leadId, seq, attempt: 1, firstAt: delivery.receivedAt };
      return state === 'accepted'
        ? { kind: 'accepted', ...known }
        : { kind: 'pending', ...known, targets, busy: false };
    }
    return this.#repeat(arrival, id, digest, now);
  }

  reject(delivery: Delivery, rejection: Rejection, leadId: string | undefined): void {
    const { status, reason, detail } = rejection;
    const body = delivery.body.subarray(0, rejectedBody);
    this.#add(
      { delivery: { ...delivery, body }, leadId },
      { kind: 'rejected', attempt: 1, status, reason, detail },
    );
  }

  #repeat(arrival: Arrival, id: string, digest: Uint8Array, now: number): TakeResult {
    const lead = this.#findLead.get([id]);
    if (lead === undefined) throw new Error('a lead id is both known and unknown');
    this.#countAttempt.run([id]);
    const attempt = Number(lead['attempts']) + 1;
    const differs = this.#differences(lead, digest, arrival.delivery.body);
    const { targets, busy } = this.work.claim(id, now);
    // Pending from an earlier run that wanted more than this one does: nothing is left, so it is taken in now.
    const kind =
      targets.length > 0 || busy ? 'pending' : lead['state'] === 'pending' ? 'accepted' : 'duplicate';
    if (kind === 'accepted') this.work.accept(id);
    this.#add(arrival, { kind, status: kind === 'pending' ? 502 : 200, attempt, differs });
    const known = {
      leadId: arrival.leadId,
      seq: this.#seq,
      attempt,
      firstAt: Number(lead['first_at']),
      ...(differs !== undefined && { differs }),
    };
    return kind === 'pending' ? { kind, ...known, targets, busy } : { kind, ...known };
  }

  #differences(lead: Row, digest: Uint8Array, body: Uint8Array): readonly string[] | undefined {
    if (Buffer.compare(lead['digest'] as Uint8Array, digest) === 0) return undefined;
    const first = this.#bodyOf.get([lead['seq'] ?? 0])?.['body'];
    return differing(first instanceof Uint8Array ? first : undefined, body);
  }

  #add(
    { delivery, leadId, source }: Omit<Arrival, 'leadId'> & { leadId: string | undefined },
    verdict: Verdict,
  ): void {
    const { conceal } = this.#options;
    this.#seq += 1;
    this.#addDelivery.run([
      this.#seq,
      delivery.receivedAt,
      leadId === undefined ? null : toColumn(leadId),
      verdict.kind,
      verdict.reason ?? null,
      verdict.detail ?? null,
      verdict.status,
      verdict.attempt,
      source ?? 'push',
      verdict.differs === undefined ? null : JSON.stringify(verdict.differs),
      delivery.remote,
      delivery.method,
      conceal.path(delivery),
      JSON.stringify(conceal.headers(delivery)),
      delivery.body,
    ]);
  }
}
