import type { TakenVerdict } from '../../decide-verdict.ts';
import { type DeliveryContent, type DeliverySummary, keptVerdict, summaryOf } from '../../delivery-record.ts';
import type { RejectedDelivery } from '../../inbox.ts';
import { maxRejectedKept, maxRepeatsKept, noncesRemovedPerAdded } from '../../store-options.ts';
import { bytesOfText, nullable, type Sql, sql, statements } from '../sql.ts';
import { databaseTime, rejectsLock, type StoreContext } from '../store-context.ts';
import type { LeadInBatch } from './known-leads.ts';
import type { TakenLead } from './take-queries.ts';

type Rejected = Parameters<typeof summaryOf>[0] & {
  readonly rejection: RejectedDelivery['rejection'];
  readonly content: DeliveryContent;
};

interface Granted {
  readonly lead: Uint8Array;
  readonly target: Uint8Array;
  readonly seq: number;
  readonly firstAt: number;
}

/** A lead that was accepted without an answer. `seq`: of its first delivery. */
export interface LostLead {
  readonly seq: number;
  readonly id: Uint8Array;
}

/** Collects what the second message of a transaction writes. All of it belongs to ids that are locked already. */
export class TakeWrites {
  readonly deliveries: DeliveryRows;
  /** Numbers of the first deliveries of the leads that are accepted now. */
  readonly accepted: number[] = [];
  readonly #context: StoreContext;
  readonly #nowAccepted = new Map<string, Uint8Array>();
  readonly #granted = new Map<string, Granted>();
  readonly #trimmed = new Map<string, { readonly id: Uint8Array; readonly differs: boolean }>();
  #unanswered: readonly LostLead[] = [];
  #nonces = 0;
  readonly #untaken = new Set<RejectedDelivery['rejection']['kind']>();

  constructor(context: StoreContext) {
    this.#context = context;
    this.deliveries = new DeliveryRows(context.schema);
  }

  addRejected(seq: number, rejected: Rejected): void {
    const { rejection, content, leadId } = rejected;
    this.#untaken.add(rejection.kind);
    const id = leadId === undefined ? undefined : bytesOfText(leadId);
    this.deliveries.add(seq, id, summaryOf(rejected, rejection, content.path), content);
  }

  /** The consequences for the lead, once it has `taken` the delivery. */
  addVerdict({ id, key }: TakenLead, verdict: TakenVerdict, lead: LeadInBatch): void {
    const { kind, attempt, differs, firstAt } = verdict;
    const { seq } = lead;
    if (seq === undefined) return;
    if (kind === 'accepted') {
      this.accepted.push(seq);
      if (!lead.isNew) this.#nowAccepted.set(key, id);
    }
    if (kind === 'pending') {
      for (const { name } of verdict.targets) {
        const target = this.#context.storedName(name);
        this.#granted.set(`${key} ${name}`, { lead: id, target, seq, firstAt });
      }
    }
    if (attempt > maxRepeatsKept + 1) {
      this.#trimmed.set(`${key} ${String(differs !== undefined)}`, { id, differs: differs !== undefined });
    }
  }

  countNonce(): void {
    this.#nonces += 1;
  }

  /** Leads whose acceptance nobody learnt of: their deliveries were stored, and not answered. */
  unanswered(leads: readonly LostLead[]): void {
    this.#unanswered = leads;
  }

  get statements(): Sql {
    const { schema } = this.#context;
    return statements(
      // Before this transaction's own deliveries, one of which is accepted.
      unaccept(schema, this.#unanswered),
      this.deliveries.statements,
      this.#nowAccepted.size === 0
        ? undefined
        : sql`UPDATE ${schema}.ids SET accepted = true WHERE id = ANY(${[...this.#nowAccepted.values()]}::bytea[]);`,
      this.#granted.size === 0 ? undefined : grant(this.#context, [...this.#granted.values()]),
      ...[...this.#trimmed.values()].map(({ id, differs }) => trimRepeats(schema, id, differs)),
      ...[...this.#untaken].map((kind) => trimRejected(this.#context, kind)),
      this.#nonces === 0 ? undefined : removeNonces(this.#context, this.#nonces),
      ...this.#context.notes(),
    );
  }
}

/** Undefined where there are none. The accepted delivery of a lead may be a repeat: an answer may be lost more than once. */
export const unaccept = (schema: Sql, leads: readonly LostLead[]): Sql | undefined =>
  leads.length === 0
    ? undefined
    : sql`UPDATE ${schema}.deliveries SET verdict = 'pending', status = 503 WHERE verdict = 'accepted' AND
    (seq = ANY(${leads.map(({ seq }) => seq)}) OR (lead = ANY(${leads.map(({ id }) => id)}) AND attempt > 1));`;

/** A lead that came is due as well: where this receiver is killed, it is to be tried again. */
const grant = ({ schema, owner, options }: StoreContext, granted: readonly Granted[]): Sql =>
  sql`INSERT INTO ${schema}.outstanding AS known (lead, target, seq, first_at, owner, lease, since, due_at)
SELECT lead, target, seq, first_at, ${owner}, ${databaseTime} + ${Math.round(options.leaseMs)}, ${options.clock.now()}, ${databaseTime}
FROM unnest(${granted.map(({ lead }) => lead)}, ${granted.map(({ target }) => target)}, ${granted.map(({ seq }) => seq)},
  ${granted.map(({ firstAt }) => firstAt)}) AS new (lead, target, seq, first_at)
ON CONFLICT (lead, target) DO UPDATE SET owner = excluded.owner, lease = excluded.lease,
  since = coalesce(known.since, excluded.since), due_at = coalesce(known.due_at, excluded.due_at);`;

/** Keeps the newest repeats of one lead, and counts the others. */
const trimRepeats = (schema: Sql, id: Uint8Array, differs: boolean): Sql =>
  sql`WITH dropped AS (
  DELETE FROM ${schema}.deliveries AS d USING (
    SELECT seq, received_at FROM ${schema}.deliveries WHERE lead = ${id} AND attempt > 1 AND (differs IS NOT NULL) = ${differs}
    ORDER BY seq DESC OFFSET ${maxRepeatsKept}
  ) AS old WHERE d.seq = old.seq AND d.received_at = old.received_at RETURNING 1
)
INSERT INTO ${schema}.dropped_repeats AS kept (lead, differing, same)
SELECT ${id}, CASE WHEN ${differs} THEN count(*) ELSE 0 END, CASE WHEN ${differs} THEN 0 ELSE count(*) END
FROM dropped HAVING count(*) > 0
ON CONFLICT (lead) DO UPDATE SET differing = kept.differing + excluded.differing, same = kept.same + excluded.same;`;

/** One receiver at a time, and nobody waits for it: the next rejected delivery removes what stays. */
const trimRejected = ({ schema, lockKey }: StoreContext, kind: RejectedDelivery['rejection']['kind']): Sql =>
  sql`WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${lockKey}::int4, ${rejectsLock}::int4) AS is_mine)
DELETE FROM ${schema}.deliveries AS d USING (
  SELECT seq, received_at FROM ${schema}.deliveries, turn WHERE is_mine AND reason IS NOT NULL
    AND (reason = 'other_event') = ${kind === 'other'}
  ORDER BY seq DESC OFFSET ${maxRejectedKept}
) AS old WHERE d.seq = old.seq AND d.received_at = old.received_at;`;

const removeNonces = ({ schema, nonceClock }: StoreContext, added: number): Sql =>
  sql`DELETE FROM ${schema}.nonces WHERE nonce IN (SELECT nonce FROM ${schema}.nonces WHERE expires <= ${nonceClock.now()}
  ORDER BY expires LIMIT ${added * noncesRemovedPerAdded} FOR UPDATE SKIP LOCKED);`;

interface DeliveryRow {
  readonly seq: number;
  readonly lead: Uint8Array | undefined;
  readonly summary: DeliverySummary;
  /** Of the delivery, unless it is stored as a row of `contents`. */
  readonly content: Pick<DeliveryContent, 'headers' | 'body'>;
}

const noBytes = new Uint8Array();
const none = { headers: [], body: noBytes };

/** The rows of `deliveries` and `contents` that one transaction inserts. */
class DeliveryRows {
  readonly #schema: Sql;
  readonly #rows: DeliveryRow[] = [];
  readonly #contents: {
    readonly seq: number;
    readonly receivedAt: number;
    readonly content: DeliveryContent;
  }[] = [];

  constructor(schema: Sql) {
    this.#schema = schema;
  }

  /** With headers and body of its own, unless it shares those of `summary.firstSeq`. */
  add(seq: number, lead: Uint8Array | undefined, summary: DeliverySummary, content: DeliveryContent): void {
    this.#rows.push({ seq, lead, summary, content: summary.firstSeq === undefined ? content : none });
  }

  /** Headers and body that several rows share, under the number of the first. */
  addContent(seq: number, receivedAt: number, content: DeliveryContent): void {
    this.#contents.push({ seq, receivedAt, content });
  }

  /** The contents first: see `partitions.ts`. */
  get statements(): Sql {
    return statements(
      this.#contents.length === 0 ? undefined : this.#insertContents(),
      this.#rows.length === 0 ? undefined : this.#insertDeliveries(),
    );
  }

  #insertContents(): Sql {
    const all = this.#contents;
    return sql`INSERT INTO ${this.#schema}.contents (seq, received_at, headers, body) SELECT * FROM unnest(
      ${all.map(({ seq }) => seq)}, ${all.map(({ receivedAt }) => receivedAt)},
      ${all.map(({ content }) => headerBytes(content.headers))}, ${all.map(({ content }) => content.body)});`;
  }

  #insertDeliveries(): Sql {
    const rows = this.#rows;
    const numbers = (of: (summary: DeliverySummary) => number | undefined): Sql =>
      nullable(
        'int8',
        rows.map(({ summary }) => of(summary)),
      );
    const texts = (of: (summary: DeliverySummary) => string | undefined): Sql =>
      nullable(
        'bytea',
        rows.map(({ summary }) => {
          const text = of(summary);
          return text === undefined ? undefined : bytesOfText(text);
        }),
      );
    const words = (of: (summary: DeliverySummary) => string | undefined): Sql =>
      nullable(
        'text',
        rows.map(({ summary }) => of(summary)),
      );
    return sql`INSERT INTO ${this.#schema}.deliveries (seq, received_at, lead, verdict, reason, detail, status, attempt,
  source, differs, remote, method, path, headers, body, lead_start, lead_end, first_seq, created_at)
SELECT * FROM unnest(${rows.map(({ seq }) => seq)}, ${numbers(({ receivedAt }) => receivedAt)},
  ${nullable(
    'bytea',
    rows.map(({ lead }) => lead),
  )}, ${words(({ verdict }) => keptVerdict(verdict))},
  ${words(({ reason }) => reason)}, ${texts(({ reason, detail = '' }) => (reason === undefined ? undefined : detail))},
  ${numbers(({ status }) => status)}, ${numbers(({ attempt }) => attempt)}, ${words(({ source }) => source)},
  ${texts(({ differs }) => differs && JSON.stringify(differs))}, ${texts(({ remote }) => remote)},
  ${texts(({ method }) => method)}, ${texts(({ path }) => path)},
  ${rows.map(({ content }) => headerBytes(content.headers))}, ${rows.map(({ content }) => content.body)},
  ${numbers(({ place }) => place?.start)}, ${numbers(({ place }) => place?.end)}, ${numbers(({ firstSeq }) => firstSeq)},
  ${numbers(({ createdAt }) => createdAt)});`;
  }
}

const headerBytes = (headers: DeliveryContent['headers']): Uint8Array => bytesOfText(JSON.stringify(headers));
