import { verdictOnceDone, type TakenKind } from '../../decide-verdict.ts';
import type { LeaseAnswer, TargetLease } from '../../inbox.ts';
import type { StoredName } from '../../target-name.ts';
import { erasedDigests, erasedLeads } from '../erased-rows.ts';
import { UnknownLeadError } from '../postgres-errors.ts';
import {
  bytesOf,
  bytesOfText,
  hexOf,
  isNull,
  nullable,
  numberOf,
  type Sql,
  sql,
  textOf,
  textOfBytes,
} from '../sql.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import { type OutstandingTarget, LeasedDeliveries, LeasedLead } from './leased-leads.ts';
import { type Answers, type Decision, inTransaction, type Plan, runToCommit } from './transaction.ts';

type Results = readonly LeaseResult[];

/** What several callers lease, release and mark as done, in one transaction that locks the leads' ids, sorted. */
export class LeasePlan implements Plan<Results> {
  readonly question: Sql;
  readonly #works: readonly LeaseWork[];
  readonly #context: StoreContext;

  constructor(works: readonly LeaseWork[], context: StoreContext) {
    this.#works = works;
    this.#context = context;
    const { schema, owner, targetKey } = context;
    const leases = works.flatMap((work) => work.leases);
    const ended = works.flatMap(({ kind, leases }) => (kind === 'lease' ? [] : leases));
    const sorted = [...new Map(leases.map(({ key, id }) => [key, id]))].sort(([a], [b]) => (a < b ? -1 : 1));
    const erased = erasedDigests(targetKey, new Set(leases.map(({ lease }) => lease.leadId)));
    this.question = sql`SELECT ${schema}.leased_1(${sorted.map(([, id]) => id)}, ${owner},
      ${[...new Set(ended.map(({ lease }) => lease.seq))]}, ${works.some(({ kind }) => kind === 'done at new address')},
      ${erased});`;
  }

  decide(answers: Answers): Promise<Decision<Results>> {
    const leads = this.#leads(answers);
    const deliveries = new LeasedDeliveries(answers['deliveries'] ?? []);
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
    const outstanding = new Map<string, [string, OutstandingTarget][]>();
    for (const row of answers['outstanding'] ?? []) {
      const target = {
        owner: textOf(row['owner']),
        lease: numberOf(row['lease']),
        isLeasedElsewhere: row['is_elsewhere'] === true,
        tries: numberOf(row['tries']),
        dueAt: isNull(row['due_at']) ? undefined : numberOf(row['due_at']),
        dead: row['dead'] === true,
        label: textOfBytes(bytesOf(row['label'])),
      };
      const key = textOf(row['lead']);
      outstanding.set(key, [...(outstanding.get(key) ?? []), [textOf(row['target']), target]]);
    }
    return new Map(
      (answers['leads'] ?? []).map((row) => {
        const key = textOf(row['id']);
        return [key, new LeasedLead(row, outstanding.get(key) ?? [], receiver)];
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
  return sql`SELECT ${schema}.settle_1(
    ${changed.map(([key]) => bytes(key))}, ${changed.map(([, { accepted }]) => accepted)},
    ${changed.map(([, { done }]) => bytes([...done].join('')))},
    ${removed.map(({ key }) => bytes(key))}, ${removed.map(({ target }) => bytes(target))},
    ${leased.map(({ key }) => bytes(key))}, ${leased.map(({ target }) => bytes(target))},
    ${leased.map(({ owner }) => bytes(owner))}, ${leased.map(({ lease }) => lease)}, ${leased.map(({ tries }) => tries)},
    ${nullable(
      'int8',
      leased.map(({ dueAt }) => dueAt),
    )}, ${leased.map(({ dead }) => dead)}, ${deliveries.changes});`;
}

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

/** A condition on a row `o` of `outstanding`: the delivery that made it, or a later one of the lead, is left. */
export const hasDelivery = (schema: Sql): Sql =>
  sql`(EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.seq = o.seq AND d.received_at = o.first_at)
    OR EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.lead = o.lead AND attempt > 1))`;

/**
 * What is outstanding of these leads is due now, where a delivery is left that can be handed on. Locks their ids, sorted, as
 * every receiver does, and their deliveries before what is outstanding, as it is where a month is dropped.
 */
export function beginAnew(context: StoreContext, leadIds: readonly string[]): Promise<number> {
  const { connections, schema, options } = context;
  const ids = sql`${leadIds.map(bytesOfText)}::bytea[]`;
  const lock = sql`SELECT count(*) FROM (SELECT FROM ${schema}.ids WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE) AS locked;
    LOCK TABLE ONLY ${schema}.deliveries IN ACCESS SHARE MODE;`;
  return inTransaction(connections, lock, async (connection) => {
    const [[row] = []] = await connection.run(
      sql`WITH begun AS (UPDATE ${schema}.outstanding AS o SET since = ${options.clock.now()}, due_at = ${databaseTime}, dead = false
        WHERE lead = ANY(${ids}) AND ${hasDelivery(schema)} RETURNING lead) SELECT count(DISTINCT lead) AS begun FROM begun;`,
    );
    await runToCommit(connection);
    return numberOf(row?.['begun']);
  });
}
