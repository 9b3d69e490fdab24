import type { TakenKind } from '../../decide-verdict.ts';
import type { LeaseAnswer, TargetLease } from '../../inbox.ts';
import { maxResultsKept } from '../../store-options.ts';
import { storedAnswer } from '../../target-answer.ts';
import { targetLabel } from '../../target-name.ts';
import { resultsIn, type StoredResultFields } from '../read/read-database.ts';
import {
  bytesOf,
  bytesOfText,
  nullable,
  numberOf,
  type Row,
  type Rows,
  type Sql,
  sql,
  textOf,
  textOfBytes,
} from '../sql.ts';
import { namesIn } from './known-leads.ts';

/** A target that has not had a lead. */
export interface OutstandingTarget {
  /** In hex, as is the target's key. */
  readonly owner: string;
  readonly lease: number;
  readonly isLeasedElsewhere: boolean;
  readonly tries: number;
  /** As the lease is: by the database's clock. */
  readonly dueAt: number | undefined;
  readonly dead: boolean;
  /** Of the target. */
  readonly label: string;
}

interface Receiver {
  /** In hex. */
  readonly owner: string;
  /** When its lease ends that it takes now, in milliseconds since the epoch. */
  readonly leaseEnd: number;
  /** Of the database's clock before this machine's. */
  readonly ahead: number;
  /** Keys of the targets that it hands each lead to. */
  readonly wanted: readonly string[];
}

/** A lead and its targets during a transaction, and what changed. Targets are named by their keys. */
export class LeasedLead {
  readonly seq: number;
  readonly done: Set<string>;
  readonly outstanding: Map<string, OutstandingTarget>;
  readonly #receiver: Receiver;
  accepted: boolean;
  isChanged = false;
  readonly removed = new Set<string>();
  readonly leased = new Set<string>();

  /** `row`: of the table `ids`. */
  constructor(row: Row, outstanding: Iterable<readonly [string, OutstandingTarget]>, receiver: Receiver) {
    this.seq = numberOf(row['seq']);
    this.accepted = row['accepted'] === true;
    this.done = new Set(namesIn(textOf(row['settled'])));
    this.outstanding = new Map(outstanding);
    this.#receiver = receiver;
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(target: string): string[] {
    if (!this.done.has(target)) {
      this.done.add(target);
      this.isChanged = true;
    }
    if (this.outstanding.delete(target)) this.removed.add(target);
    this.leased.delete(target);
    return this.#receiver.wanted.filter((wanted) => this.outstanding.has(wanted));
  }

  /**
   * Notes that the target has had the lead, and gives the only other forward that is outstanding for it, unless a receiver
   * that runs wants that one; undefined where there is none, or several.
   */
  markDoneAtNewAddress(
    target: string,
    isWanted: (target: string) => boolean,
  ): [target: string, label: string] | undefined {
    this.settle(target);
    const forwards = [...this.outstanding].filter(([, { label }]) => label.startsWith('forward '));
    const [[other, found] = []] = forwards;
    if (other === undefined || found === undefined || forwards.length > 1) return undefined;
    return found.isLeasedElsewhere || isWanted(other) ? undefined : [other, found.label];
  }

  release(target: string, { result, retryAt, dead }: TargetLease): void {
    const found = this.outstanding.get(target);
    if (found?.owner !== this.#receiver.owner) return;
    this.outstanding.set(target, {
      ...found,
      lease: 0,
      tries: found.tries + (result === undefined ? 0 : 1),
      dueAt: retryAt === undefined ? found.dueAt : Math.round(retryAt + this.#receiver.ahead),
      dead: found.dead || dead === true,
    });
    this.leased.add(target);
  }

  lease(target: string, { isQuestion }: TargetLease): LeaseAnswer {
    if (this.done.has(target)) return { state: 'settled', tries: 0 };
    const found = this.outstanding.get(target);
    if (found === undefined) return { state: 'not outstanding', tries: 0 };
    if (found.isLeasedElsewhere) return { state: 'busy', tries: found.tries };
    const { owner, leaseEnd } = this.#receiver;
    // A lease that another receiver has not ended is a try of which nobody knows what came.
    const tries = found.tries + (found.lease > 0 && found.owner !== owner ? 1 : 0);
    if (isQuestion !== true) {
      this.outstanding.set(target, { ...found, owner, lease: leaseEnd, tries });
      this.leased.add(target);
    }
    return { state: 'leased', tries };
  }
}

interface Delivery {
  readonly seq: number;
  readonly receivedAt: number;
  verdict: string;
  status: number;
  results: readonly StoredResultFields[];
  isChanged: boolean;
}

/** The deliveries that leases name, during a transaction. Of one that was pruned nothing is kept. */
export class LeasedDeliveries {
  readonly #found: ReadonlyMap<number, Delivery>;

  constructor(rows: Rows) {
    this.#found = new Map(
      rows.map((row) => [
        numberOf(row['seq']),
        {
          seq: numberOf(row['seq']),
          receivedAt: numberOf(row['received_at']),
          verdict: textOf(row['verdict']),
          status: numberOf(row['status']),
          results: resultsIn(textOfBytes(bytesOf(row['results']))),
          isChanged: false,
        },
      ]),
    );
  }

  /** Gives a delivery that is pending its last verdict. */
  conclude(seq: number, verdict: Exclude<TakenKind, 'pending'>): void {
    const found = this.#found.get(seq);
    if (found?.verdict !== 'pending') return;
    found.verdict = verdict;
    found.status = 200;
    found.isChanged = true;
  }

  addResult({ seq, target, result }: TargetLease): void {
    const found = this.#found.get(seq);
    if (found === undefined || result === undefined) return;
    const { ok, at, durationMs } = result;
    const answer = storedAnswer(result, target);
    const added: StoredResultFields = [targetLabel(target), ok, answer, at, durationMs];
    found.results = [...found.results, added].slice(-maxResultsKept);
    found.isChanged = true;
  }

  /** As `settle_1` takes them. */
  get changes(): Sql {
    const changed = [...this.#found.values()].filter(({ isChanged }) => isChanged);
    return sql`${changed.map(({ seq }) => seq)}, ${changed.map(({ receivedAt }) => receivedAt)},
  ${changed.map(({ verdict }) => verdict)}, ${changed.map(({ status }) => status)},
  ${nullable(
    'bytea',
    changed.map(({ results }) => (results.length === 0 ? undefined : bytesOfText(JSON.stringify(results)))),
  )}`;
  }
}
