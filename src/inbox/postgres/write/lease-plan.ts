import { verdictOnceDone, type TakenKind } from '../../decide-verdict.ts';
import type { LeaseAnswer, TargetLease } from '../../inbox.ts';
import type { StoredName } from '../../target-name.ts';
import { erasedLeads, erasedQuestion } from '../erased-rows.ts';
import { UnknownLeadError } from '../postgres-errors.ts';
import { bytesOfText, hexOf, numberOf, type Sql, sql, statements, textOf } from '../sql.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import { LeasedDeliveries, LeasedLead, outstandingByLead, outstandingQuestion } from './leased-leads.ts';
import { type Answers, type Decision, inTransaction, type Plan, runToCommit } from './transaction.ts';

type Results = readonly LeaseResult[];

/** What several callers lease, release and mark as done, in one transaction that locks the leads' ids, sorted. */
export class LeasePlan implements Plan<Results> {
  readonly questions: Readonly<Record<string, Sql>>;
  readonly #works: readonly LeaseWork[];
  readonly #context: StoreContext;

  constructor(works: readonly LeaseWork[], context: StoreContext) {
    this.#works = works;
    this.#context = context;
    const { schema } = context;
    const leases = works.flatMap((work) => work.leases);
    const ended = works.flatMap(({ kind, leases }) => (kind === 'lease' ? [] : leases));
    const sorted = [...new Map(leases.map(({ key, id }) => [key, id]))].sort(([a], [b]) => (a < b ? -1 : 1));
    const ids = sorted.map(([, id]) => id);
    const seqs = new Set(ended.map(({ lease }) => lease.seq));
    this.questions = {
      leads: sql`SELECT encode(id, 'hex') AS id, seq, accepted, encode(settled, 'hex') AS settled
        FROM ${schema}.ids WHERE id = ANY(${ids}::bytea[]) ORDER BY ids.id FOR UPDATE;`,
      outstanding: outstandingQuestion(context, ids),
      deliveries: sql`SELECT seq, verdict, status, encode(results, 'hex') AS results FROM ${schema}.deliveries
        WHERE seq = ANY(${[...seqs]}::int8[]);`,
      erased: erasedQuestion(context, new Set(leases.map(({ lease }) => lease.leadId))),
      ...(works.some(({ kind }) => kind === 'done at new address')
        ? { receivers: sql`SELECT DISTINCT encode(target, 'hex') AS target FROM ${schema}.receivers;` }
        : {}),
    };
  }

  decide(answers: Answers): Promise<Decision<Results>> {
    const leads = this.#leads(answers);
    const deliveries = new LeasedDeliveries(this.#context.schema, answers['deliveries'] ?? []);
    const wanted = new Set((answers['receivers'] ?? []).map(({ target }) => textOf(target)));
    const ids = this.#works.flatMap(({ leases }) => leases.map(({ lease }) => lease.leadId));
    const erased = erasedLeads(this.#context, ids, answers['erased'] ?? []);
    const settle = (lead: LeasedLead, { seq }: TargetLease, target: string): TakenKind => {
      const undone = lead.settle(target);
      const verdict = verdictOnceDone(undone, lead);
      if (verdict === 'pending') return verdict;
      if (!lead.accepted) {
        lead.accepted = true;
        lead.isChanged = true;
      }
      deliveries.conclude(seq, verdict);
      return verdict;
    };
    const one = (kind: LeaseWork['kind'], stored: StoredLease): LeaseResult => {
      const { lease, key, targetKey } = stored;
      const lead = leads.get(key);
      if (lead === undefined) {
        if (kind === 'lease') return { state: 'not outstanding', tries: 0 };
        // Erased while a target was handed the lead.
        if (erased.has(lease.leadId)) return kind === 'done' ? 'duplicate' : undefined;
        throw new UnknownLeadError('there is no lead of this id');
      }
      if (kind !== 'lease') deliveries.addResult(lease);
      if (kind === 'done') return settle(lead, lease, targetKey);
      if (kind === 'lease') return lead.lease(targetKey, lease);
      if (kind === 'release') {
        lead.release(targetKey, lease);
        return undefined;
      }
      const moved = lead.markDoneAtNewAddress(targetKey, (target) => wanted.has(target));
      if (moved === undefined) return undefined;
      const [target, label] = moved;
      lead.settle(target);
      settle(lead, lease, targetKey);
      return label;
    };
    const results = this.#works.map(({ kind, leases }) => leases.map((lease) => one(kind, lease)));
    const change = leaseWrites(this.#context, leads, deliveries);
    return Promise.resolve({ kind: 'write', statements: change, results });
  }

  #leads(answers: Answers): ReadonlyMap<string, LeasedLead> {
    const { options, owner, wanted } = this.#context;
    const now = numberOf(answers['outstanding']?.[0]?.['now'] ?? 0);
    const receiver = {
      owner: hexOf(owner),
      leaseEnd: Math.round(now + options.leaseMs),
      ahead: now - options.clock.now(),
      wanted: [...wanted.values()],
    };
    const outstanding = outstandingByLead(answers['outstanding'] ?? []);
    return new Map(
      (answers['leads'] ?? []).map((row) => {
        const key = textOf(row['id']);
        return [key, new LeasedLead(row, outstanding.get(key), receiver)];
      }),
    );
  }
}

/** A lease of one caller, with its names as they are stored. */
interface StoredLease {
  readonly lease: TargetLease;
  readonly id: Uint8Array;
  /** The id in hex, which sorts as the bytes do. */
  readonly key: string;
  readonly target: Uint8Array;
  /** In hex. */
  readonly targetKey: string;
}

/** What one caller asks for. */
export interface LeaseWork {
  readonly kind: 'done' | 'done at new address' | 'release' | 'lease';
  readonly leases: readonly StoredLease[];
}

/** What one lease became: a `TakenKind`, the label of a target that has moved, nothing, or its answer, by the kind of the work. */
export type LeaseResult = string | LeaseAnswer | undefined;

export const leaseWork = (
  kind: LeaseWork['kind'],
  leases: readonly TargetLease[],
  storedName: StoredName<Uint8Array>,
): LeaseWork => ({
  kind,
  leases: leases.map((lease) => {
    const id = bytesOfText(lease.leadId);
    const target = storedName(lease.target);
    return { lease, id, key: hexOf(id), target, targetKey: hexOf(target) };
  }),
});

/** What changed of the leads, by their keys (ids in hex), and of the deliveries. */
function leaseWrites(
  { schema }: StoreContext,
  leads: ReadonlyMap<string, LeasedLead>,
  deliveries: LeasedDeliveries,
): Sql {
  const changed = [...leads].filter(([, { isChanged }]) => isChanged);
  const removed = [...leads].flatMap(([key, { removed }]) => [...removed].map((target) => ({ key, target })));
  const leased = [...leads].flatMap(([key, { leased, outstanding }]) =>
    [...leased].flatMap((target) => {
      const found = outstanding.get(target);
      return found === undefined ? [] : [{ key, target, ...found }];
    }),
  );
  return statements(
    changed.length === 0
      ? undefined
      : sql`UPDATE ${schema}.ids SET accepted = new.accepted, settled = new.settled
          FROM unnest(${changed.map(([key]) => bytes(key))}, ${changed.map(([, { accepted }]) => accepted)},
            ${changed.map(([, { done }]) => bytes([...done].join('')))}) AS new (id, accepted, settled)
          WHERE ids.id = new.id;`,
    removed.length === 0
      ? undefined
      : sql`DELETE FROM ${schema}.outstanding AS o USING unnest(${removed.map(({ key }) => bytes(key))},
            ${removed.map(({ target }) => bytes(target))}) AS old (lead, target)
          WHERE o.lead = old.lead AND o.target = old.target;`,
    leased.length === 0
      ? undefined
      : sql`UPDATE ${schema}.outstanding AS o SET owner = new.owner, lease = new.lease, tries = new.tries,
            due_at = new.due_at, dead = new.dead
          FROM unnest(${leased.map(({ key }) => bytes(key))}, ${leased.map(({ target }) => bytes(target))},
            ${leased.map(({ owner }) => bytes(owner))}, ${leased.map(({ lease }) => lease)},
            ${leased.map(({ tries }) => tries)}, ${leased.map(({ dueAt }) => dueAt)}, ${leased.map(({ dead }) => dead)}
          ) AS new (lead, target, owner, lease, tries, due_at, dead)
          WHERE o.lead = new.lead AND o.target = new.target;`,
    deliveries.statement,
  );
}

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

/** A condition on a row `o` of `outstanding`: the delivery that made it, or a later one of the lead, is left. */
export const hasDelivery = (schema: Sql): Sql =>
  sql`(EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.seq = o.seq)
    OR EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.lead = o.lead AND attempt > 1))`;

/**
 * What is outstanding of these leads is due now, where a delivery is left that can be handed on. Locks their ids, sorted, as
 * every receiver does.
 */
export function beginAnew(context: StoreContext, leadIds: readonly string[]): Promise<number> {
  const { connections, schema, options } = context;
  const ids = sql`${leadIds.map(bytesOfText)}::bytea[]`;
  const lock = sql`SELECT count(*) FROM (SELECT FROM ${schema}.ids WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE) AS locked;`;
  return inTransaction(connections, lock, async (connection) => {
    const [[row] = []] = await connection.run(
      sql`WITH begun AS (UPDATE ${schema}.outstanding AS o SET since = ${options.clock.now()}, due_at = ${databaseTime}, dead = false
        WHERE lead = ANY(${ids}) AND ${hasDelivery(schema)} RETURNING lead) SELECT count(DISTINCT lead) AS begun FROM begun;`,
    );
    await runToCommit(connection);
    return numberOf(row?.['begun']);
  });
}
