import type { TakenKind } from '../../decide-verdict.ts';
import type { LeaseAnswer, StoredResult, TargetLease } from '../../inbox.ts';
import { longestLeaseMs, maxResultsKept } from '../../store-options.ts';
import { storedNameLength, targetAddress, targetLabel } from '../../target-name.ts';
import { resultsIn } from '../read/read-database.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
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

/** A target that has not had a lead. */
export interface OutstandingTarget {
  /** In hex, as is the target's key. */
  readonly owner: string;
  readonly lease: number;
  readonly isLeasedElsewhere: boolean;
  readonly tries: number;
  /** When the lead became outstanding, or a person began anew, in milliseconds since the epoch. */
  readonly since: number;
  /** As the lease is: by the database's clock. */
  readonly dueAt: number;
  readonly dead: boolean;
  /** Of the target. */
  readonly label: string;
}

/** Asks for the targets that have not had leads, for `outstandingByLead`: behind the locks on the leads' ids. */
export const outstandingQuestion = (
  { schema, owner }: Pick<StoreContext, 'schema' | 'owner'>,
  ids: readonly Uint8Array[],
): Sql =>
  sql`SELECT encode(lead, 'hex') AS lead, encode(target, 'hex') AS target, encode(owner, 'hex') AS owner, lease,
      owner <> ${owner} AND lease > ${databaseTime} AND lease <= ${databaseTime} + ${longestLeaseMs} AS is_elsewhere,
      ${databaseTime} AS now, tries, since, due_at, dead,
      (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = target) AS label
    FROM ${schema}.outstanding WHERE lead = ANY(${ids}::bytea[]);`;

/** Targets by their keys, by the keys of their leads. */
export function outstandingByLead(rows: Rows): ReadonlyMap<string, ReadonlyMap<string, OutstandingTarget>> {
  const leads = new Map<string, Map<string, OutstandingTarget>>();
  for (const row of rows) {
    const key = textOf(row['lead']);
    const targets = leads.get(key) ?? new Map<string, OutstandingTarget>();
    leads.set(key, targets);
    targets.set(textOf(row['target']), {
      owner: textOf(row['owner']),
      lease: numberOf(row['lease']),
      isLeasedElsewhere: row['is_elsewhere'] === true,
      tries: numberOf(row['tries']),
      since: numberOf(row['since']),
      dueAt: numberOf(row['due_at']),
      dead: row['dead'] === true,
      label: textOfBytes(bytesOf(row['label'])),
    });
  }
  return leads;
}

/** A lease that another receiver has not ended is a try of which nobody knows what came. `owner`: of who asks. */
export const triesOf = (target: OutstandingTarget | undefined, owner: string): number =>
  target === undefined ? 0 : target.tries + (target.lease > 0 && target.owner !== owner ? 1 : 0);

/** Names of targets, in hex, that stand after each other. */
export const namesIn = (hex: string): ReadonlySet<string> =>
  new Set(hex.match(new RegExp(`.{${2 * storedNameLength}}`, 'g')));

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
  constructor(row: Row, outstanding: ReadonlyMap<string, OutstandingTarget> | undefined, receiver: Receiver) {
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

  release(target: string, { result, retryAt, dead, since }: TargetLease): void {
    const found = this.outstanding.get(target);
    if (found?.owner !== this.#receiver.owner) return;
    this.outstanding.set(target, {
      ...found,
      lease: 0,
      tries: found.tries + (result === undefined ? 0 : 1),
      dueAt: retryAt === undefined ? found.dueAt : Math.round(retryAt + this.#receiver.ahead),
      dead: found.dead || (dead === true && (since ?? found.since) === found.since),
    });
    this.leased.add(target);
  }

  lease(target: string, { isQuestion }: TargetLease): LeaseAnswer {
    if (this.done.has(target)) return { state: 'settled', tries: 0 };
    const found = this.outstanding.get(target);
    if (found === undefined) return { state: 'not outstanding', tries: 0 };
    if (found.isLeasedElsewhere) return { state: 'busy', tries: found.tries };
    const { owner, leaseEnd } = this.#receiver;
    const tries = triesOf(found, owner);
    if (isQuestion !== true) {
      this.outstanding.set(target, { ...found, owner, lease: leaseEnd, tries });
      this.leased.add(target);
    }
    return { state: 'leased', tries };
  }
}

interface Delivery {
  readonly seq: number;
  verdict: string;
  status: number;
  results: readonly StoredResult[];
  isChanged: boolean;
}

/** The deliveries that leases name, during a transaction. Of one that was pruned nothing is kept. */
export class LeasedDeliveries {
  readonly #found: ReadonlyMap<number, Delivery>;

  readonly #schema: Sql;

  constructor(schema: Sql, rows: Rows) {
    this.#schema = schema;
    this.#found = new Map(
      rows.map((row) => [
        numberOf(row['seq']),
        {
          seq: numberOf(row['seq']),
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
    const added = { ...result, target: targetLabel(target), address: targetAddress(target) };
    found.results = [...found.results, added].slice(-maxResultsKept);
    found.isChanged = true;
  }

  /** Undefined when nothing changed. */
  get statement(): Sql | undefined {
    const changed = [...this.#found.values()].filter(({ isChanged }) => isChanged);
    if (changed.length === 0) return undefined;
    return sql`UPDATE ${this.#schema}.deliveries AS d SET verdict = new.verdict, status = new.status, results = new.results
      FROM unnest(${changed.map(({ seq }) => seq)}, ${changed.map(({ verdict }) => verdict)},
        ${changed.map(({ status }) => status)}, ${nullable(
          'bytea',
          changed.map(({ results }) =>
            results.length === 0 ? undefined : bytesOfText(JSON.stringify(results)),
          ),
        )}) AS new (seq, verdict, status, results) WHERE d.seq = new.seq;`;
  }
}
