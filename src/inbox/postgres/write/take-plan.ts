import { ComparisonBudget, decideErased, decideVerdict, replayedNonce } from '../../decide-verdict.ts';
import { summaryOf, remainingContent } from '../../delivery-record.ts';
import type { TakeResult } from '../../inbox.ts';
import type { Connection } from '../connection/database-connections.ts';
import { type ErasedLeads, erasedLeads } from '../erased-rows.ts';
import { type Row, type Rows, type Sql, textOf } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { findPayloads, LeadInBatch, storedLeads, type StoredLeadState } from './known-leads.ts';
import {
  distinctLeads,
  distinctNonces,
  type Excluded,
  type TakenDelivery,
  type TakenLead,
  takeQuestions,
  type TakeWork,
} from './take-queries.ts';
import { TakeWrites } from './take-writes.ts';
import type { Answers, Decision, Plan } from './transaction.ts';

/** The results of a `take`, in order; none of a `reject`. */
type TakeResults = readonly TakeResult[];

/**
 * Takes what several callers brought in one transaction. The first message locks all ids, sorted, and inserts the new
 * ones, whose verdict it knows; so two transactions never wait for each other. Replays are mostly none: where a nonce
 * turns out to be bound to another body, or a lead was erased, the transaction is done again without them.
 */
export class TakePlan implements Plan<TakeResults> {
  readonly questions: Readonly<Record<string, Sql>>;
  readonly #works: readonly TakeWork[];
  readonly #context: StoreContext;
  readonly #excluded: Excluded;
  /** Those of which it is not known whether they were erased. */
  readonly #ids: ReadonlySet<string>;
  readonly #leads: ReturnType<typeof distinctLeads>;

  constructor(
    works: readonly TakeWork[],
    context: StoreContext,
    excluded: Excluded = { replays: new Set(), erased: new Map() },
  ) {
    this.#works = works;
    this.#context = context;
    this.#excluded = excluded;
    this.#leads = distinctLeads(works, excluded);
    const ids = new Set([
      ...this.#leads.map(({ lead }) => lead.arrival.leadId),
      ...works.flatMap((work) => (work.kind === 'reject' ? work.rejections.flatMap(({ ids }) => ids) : [])),
    ]);
    for (const id of excluded.erased.keys()) ids.delete(id);
    this.#ids = ids;
    const nonces = distinctNonces(this.#deliveries(), excluded.replays);
    this.questions = takeQuestions(context, {
      numbers: countOf(works),
      nonces,
      leads: this.#leads,
      ids,
    });
  }

  async decide(answers: Answers, connection: Connection): Promise<Decision<TakeResults>> {
    const replays = this.#replaysIn(answers['nonces'] ?? []);
    const erased = erasedLeads(this.#context, this.#ids, answers['erased'] ?? []);
    if (replays.size > this.#excluded.replays.size || erased.size > 0) {
      const excluded = { replays, erased: new Map([...this.#excluded.erased, ...erased]) };
      return { kind: 'again', plan: new TakePlan(this.#works, this.#context, excluded) };
    }
    const [drawn = {}] = answers['leads'] ?? [];
    const known = storedLeads(textOf(drawn['known']), this.#leads);
    const found = await findPayloads(connection, this.#context.schema, known, this.#deliveries());
    return this.#write(found, numbersIn(textOf(drawn['numbers'])));
  }

  #write(known: ReadonlyMap<string, StoredLeadState>, numbers: readonly number[]): Decision<TakeResults> {
    const writes = new TakeWrites(this.#context);
    const comparison = new ComparisonBudget();
    const leads = new Map<string, LeadInBatch>();
    const { replays, erased } = this.#excluded;
    let next = 0;
    const drawn = (): number => numbers[next++] ?? never();
    const results = this.#works.map((work): TakeResults => {
      if (work.kind === 'reject') {
        for (const { leadId, ids, ...one } of work.rejections) {
          const seq = drawn();
          if (!ids.some((id) => erased.has(id))) writes.addRejected(seq, { ...one, leadId });
        }
        return [];
      }
      return work.deliveries.flatMap((delivery): TakeResult[] => {
        const { nonce } = delivery;
        const own = delivery.leads.map(() => drawn());
        const [{ arrival }] = delivery.leads;
        const rest = delivery.leads.filter((one) => !erased.has(one.arrival.leadId));
        const isWhole = rest.length === delivery.leads.length;
        if (replays.has(delivery)) {
          const rejection = replayedNonce();
          const [seq = never()] = own;
          if (isWhole) writes.addRejected(seq, { ...arrival, rejection, content: delivery.content });
          return delivery.leads.map(() => rejection);
        }
        if (nonce !== undefined) writes.countNonce();
        const content = isWhole
          ? delivery.content
          : remainingContent(
              delivery.content,
              rest.flatMap((one) => one.arrival.place ?? []),
            );
        if (rest.length === 0) return delivery.leads.map((one) => erasedResult(one, erased));
        const firstSeq = own[delivery.leads.findIndex((one) => one === rest[0])] ?? never();
        const isShared = rest.length > 1;
        if (isShared) writes.deliveries.addContent(firstSeq, content);
        return delivery.leads.map((one, i): TakeResult => {
          if (erased.has(one.arrival.leadId)) return erasedResult(one, erased);
          const lead = leads.get(one.key) ?? new LeadInBatch(known.get(one.key), comparison);
          leads.set(one.key, lead);
          const verdict = decideVerdict(lead.known(one), one.arrival);
          const seq = own[i] ?? never();
          const summary = summaryOf(one.arrival, verdict, content.path, isShared ? firstSeq : undefined);
          writes.deliveries.add(seq, one.id, summary, content);
          lead.taken(one, verdict, seq);
          writes.addVerdict(one, verdict, seq, isShared ? firstSeq : seq);
          return { seq, ...verdict };
        });
      });
    });
    return { kind: 'write', statements: writes.statements, results };
  }

  #deliveries(): readonly TakenDelivery[] {
    return this.#works.flatMap((work) => (work.kind === 'take' ? work.deliveries : []));
  }

  /** Those that were known before, and those whose nonce is bound to another body. */
  #replaysIn(bound: Rows): ReadonlySet<TakenDelivery> {
    const digests = new Map(bound.map((row: Row) => [textOf(row['nonce']), textOf(row['digest'])]));
    const found = this.#deliveries().filter(({ nonce }) => {
      const digest = nonce === undefined ? undefined : digests.get(nonce.key);
      return digest !== undefined && digest !== Buffer.from(nonce?.digest ?? []).toString('hex');
    });
    return new Set([...this.#excluded.replays, ...found]);
  }
}

function erasedResult({ arrival: { leadId } }: TakenLead, erased: ErasedLeads): TakeResult {
  const lead = erased.get(leadId) ?? never();
  return { ...decideErased(leadId, lead), seq: lead.seq };
}

/** Numbers that the works may need: one for each lead and each rejection. */
const countOf = (works: readonly TakeWork[]): number =>
  works.reduce(
    (sum, work) =>
      sum +
      (work.kind === 'take'
        ? work.deliveries.reduce((leads, delivery) => leads + delivery.leads.length, 0)
        : work.rejections.length),
    0,
  );

const numbersIn = (joined: string): readonly number[] => (joined === '' ? [] : joined.split(',').map(Number));

function never(): never {
  throw new Error('the database gave less than was asked for');
}
