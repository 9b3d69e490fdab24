import type { TakenVerdict } from '../../decide-verdict.ts';
import { type DeliveryContent, type DeliverySummary, keptVerdict, summaryOf } from '../../delivery-record.ts';
import type { RejectedDelivery } from '../../inbox.ts';
import { maxRejectedKept, maxRepeatsKept, noncesRemovedPerAdded } from '../../store-options.ts';
import { bytesOfText, nullable, type Sql, sql, statements } from '../sql.ts';
import { databaseTime, rejectsLock, type StoreContext } from '../store-context.ts';
import { countRemoved } from './count-removed.ts';
import type { TakenLead } from './take-queries.ts';

type Rejected = Parameters<typeof summaryOf>[0] & {
  readonly rejection: RejectedDelivery['rejection'];
  readonly content: DeliveryContent;
};

/** A row of `forwards`. */
interface AddedForward {
  readonly lead: Uint8Array;
  readonly target: Uint8Array;
  readonly seq: number;
  readonly request: number;
  readonly firstAt: number;
  readonly isClaimed: boolean;
}

/** Collects what the second message of a transaction writes. All of it belongs to ids that are locked already. */
export class TakeWrites {
  readonly deliveries: DeliveryRows;
  readonly #context: StoreContext;
  readonly #forwards: AddedForward[] = [];
  readonly #trimmed = new Map<string, { readonly id: Uint8Array; readonly differs: boolean }>();
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

  /** The consequences for the lead. `request`: number of the first one of the leads that came with it. */
  addVerdict({ id, key, arrival }: TakenLead, verdict: TakenVerdict, seq: number, request: number): void {
    const { kind, attempt, differs, firstAt } = verdict;
    if (kind === 'accepted') {
      const { targets = this.#context.options.targets, claimed = [] } = arrival;
      for (const name of targets) {
        const target = this.#context.storedName(name);
        this.#forwards.push({ lead: id, target, seq, request, firstAt, isClaimed: claimed.includes(name) });
      }
    }
    if (attempt > maxRepeatsKept + 1) {
      this.#trimmed.set(`${key} ${String(differs !== undefined)}`, { id, differs: differs !== undefined });
    }
  }

  countNonce(): void {
    this.#nonces += 1;
  }

  get statements(): Sql {
    const { schema, nonceClock } = this.#context;
    return statements(
      nonceClock.note(schema),
      this.deliveries.statements,
      this.#forwards.length === 0 ? undefined : addForwards(this.#context, this.#forwards),
      this.#nonces === 0 ? undefined : removeNonces(this.#context, this.#nonces),
      ...[...this.#trimmed.values()].map(({ id, differs }) => trimRepeats(schema, id, differs)),
      ...[...this.#untaken].map((kind) => trimRejected(this.#context, kind)),
    );
  }
}

/** New leads are due at once, or claimed as the first attempt. */
const addForwards = ({ schema, options }: StoreContext, added: readonly AddedForward[]): Sql =>
  sql`INSERT INTO ${schema}.forwards (lead, target, seq, request, first_at, state, tries, since, due_at, claimed_until)
    SELECT lead, target, seq, request, first_at, 'waiting', claimed::int, ${options.clock.now()}, ${databaseTime},
      CASE WHEN claimed THEN ${databaseTime} + ${Math.round(options.claimMs)} ELSE 0 END
    FROM unnest(${added.map(({ lead }) => lead)}, ${added.map(({ target }) => target)}, ${added.map(({ seq }) => seq)},
      ${added.map(({ request }) => request)}, ${added.map(({ firstAt }) => firstAt)},
      ${added.map(({ isClaimed }) => isClaimed)}) AS new (lead, target, seq, request, first_at, claimed);`;

/** Removes some of the nonces that are over. */
const removeNonces = ({ schema, nonceClock }: StoreContext, added: number): Sql =>
  sql`DELETE FROM ${schema}.nonces WHERE nonce IN (SELECT nonce FROM ${schema}.nonces WHERE expires <= ${nonceClock.now()}
    ORDER BY expires LIMIT ${added * noncesRemovedPerAdded} FOR UPDATE SKIP LOCKED);`;

/** Keeps the newest repeats of one lead, and counts the others. */
const trimRepeats = (schema: Sql, id: Uint8Array, differs: boolean): Sql =>
  sql`WITH dropped AS (
  DELETE FROM ${schema}.deliveries AS d USING (
    SELECT seq FROM ${schema}.deliveries WHERE lead = ${id} AND attempt > 1 AND (differs IS NOT NULL) = ${differs}
    ORDER BY seq DESC OFFSET ${maxRepeatsKept}
  ) AS old WHERE d.seq = old.seq RETURNING d.*
), counted AS (${countRemoved(schema, sql`dropped`)})
INSERT INTO ${schema}.dropped_repeats AS kept (lead, differing, same)
SELECT ${id}, CASE WHEN ${differs} THEN count(*) ELSE 0 END, CASE WHEN ${differs} THEN 0 ELSE count(*) END
FROM dropped HAVING count(*) > 0
ON CONFLICT (lead) DO UPDATE SET differing = kept.differing + excluded.differing, same = kept.same + excluded.same;`;

/** One receiver at a time, and nobody waits for it: the next rejected delivery removes what stays. */
const trimRejected = ({ schema, lockKey }: StoreContext, kind: RejectedDelivery['rejection']['kind']): Sql =>
  sql`WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${lockKey}::int4, ${rejectsLock}::int4) AS is_mine),
gone AS (DELETE FROM ${schema}.deliveries AS d USING (
  SELECT seq FROM ${schema}.deliveries, turn WHERE is_mine AND reason IS NOT NULL
    AND (reason = 'other_event') = ${kind === 'other'}
  ORDER BY seq DESC OFFSET ${maxRejectedKept}
) AS old WHERE d.seq = old.seq RETURNING d.*)
${countRemoved(schema, sql`gone`)};`;

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
  readonly #contents: { readonly seq: number; readonly content: DeliveryContent }[] = [];

  constructor(schema: Sql) {
    this.#schema = schema;
  }

  /** With headers and body of its own, unless it shares those of `summary.firstSeq`. */
  add(seq: number, lead: Uint8Array | undefined, summary: DeliverySummary, content: DeliveryContent): void {
    this.#rows.push({ seq, lead, summary, content: summary.firstSeq === undefined ? content : none });
  }

  /** Headers and body that several rows share, under the number of the first. */
  addContent(seq: number, content: DeliveryContent): void {
    this.#contents.push({ seq, content });
  }

  get statements(): Sql {
    return statements(
      this.#contents.length === 0 ? undefined : this.#insertContents(),
      this.#rows.length === 0 ? undefined : this.#insertDeliveries(),
    );
  }

  #insertContents(): Sql {
    const all = this.#contents;
    return sql`INSERT INTO ${this.#schema}.contents (seq, headers, body) SELECT * FROM unnest(${all.map(({ seq }) => seq)},
      ${all.map(({ content }) => headerBytes(content.headers))}, ${all.map(({ content }) => content.body)});`;
  }

  #insertDeliveries(): Sql {
    const rows = this.#rows;
    const all = rows.map(({ summary }) => summary);
    const texts = (list: readonly (string | undefined)[]): Sql =>
      nullable(
        'bytea',
        list.map((text) => (text === undefined ? undefined : bytesOfText(text))),
      );
    const numbers = (list: readonly (number | undefined)[]): Sql => nullable('int8', list);
    return sql`INSERT INTO ${this.#schema}.deliveries (seq, received_at, lead, verdict, reason, detail, status, attempt,
  source, differs, remote, method, path, headers, body, lead_start, lead_end, first_seq, created_at)
SELECT * FROM unnest(${rows.map(({ seq }) => seq)}, ${all.map(({ receivedAt }) => receivedAt)},
  ${nullable(
    'bytea',
    rows.map(({ lead }) => lead),
  )}, ${all.map(({ verdict }) => keptVerdict(verdict))},
  ${nullable(
    'text',
    all.map(({ reason }) => reason),
  )}, ${texts(all.map(({ reason, detail = '' }) => (reason === undefined ? undefined : detail)))},
  ${all.map(({ status }) => status)}, ${all.map(({ attempt }) => attempt)}, ${all.map(({ source }) => source)},
  ${texts(all.map(({ differs }) => differs && JSON.stringify(differs)))}, ${texts(all.map(({ remote }) => remote))},
  ${texts(all.map(({ method }) => method))}, ${texts(all.map(({ path }) => path))},
  ${rows.map(({ content }) => headerBytes(content.headers))}, ${rows.map(({ content }) => content.body)},
  ${numbers(all.map(({ place }) => place?.start))}, ${numbers(all.map(({ place }) => place?.end))},
  ${numbers(all.map(({ firstSeq }) => firstSeq))}, ${numbers(all.map(({ createdAt }) => createdAt))});`;
  }
}

const headerBytes = (headers: DeliveryContent['headers']): Uint8Array => bytesOfText(JSON.stringify(headers));
