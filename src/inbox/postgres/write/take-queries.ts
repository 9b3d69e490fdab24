import {
  contentOf,
  type DeliveryContent,
  type Group,
  groupByDelivery,
  rejectedContentOf,
  memberIds,
} from '../../delivery-record.ts';
import type { Arrival, RejectedDelivery } from '../../inbox.ts';
import { leadBytes } from '../../../lead/raw-lead.ts';
import { sha256 } from '../../../json/bytes.ts';
import type { RedactDelivery } from '../../store-options.ts';
import { type ErasedLeads, erasedQuestion } from '../erased-rows.ts';
import { bytesOfText, hexOf, qualifiedName, type Sql, sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/** An id of the batch, once, as it is inserted where it is new. */
export interface DistinctLead {
  readonly lead: TakenLead;
  /** Which of the batch's numbers its first delivery gets, from 1. */
  readonly place: number;
  attempts: number;
  pushed: boolean;
}

type BoundNonce = NonNullable<TakenDelivery['nonce']>;

/** Deliveries whose nonce is bound to another body, and leads that were erased: nothing of them is inserted. */
export interface Excluded {
  readonly replays: ReadonlySet<TakenDelivery>;
  readonly erased: ErasedLeads;
}

/** The ids of all deliveries but the excluded ones, sorted by their bytes. */
export function distinctLeads(
  works: readonly TakeWork[],
  { replays, erased }: Excluded,
): readonly DistinctLead[] {
  const found = new Map<string, DistinctLead>();
  let place = 0;
  for (const work of works) {
    if (work.kind === 'reject') {
      place += work.rejections.length;
      continue;
    }
    for (const delivery of work.deliveries) {
      for (const lead of delivery.leads) {
        place += 1;
        if (replays.has(delivery) || erased.has(lead.arrival.leadId)) continue;
        const pushed = lead.arrival.source !== 'backfill';
        const first = found.get(lead.key);
        if (first === undefined) found.set(lead.key, { lead, place, attempts: 1, pushed });
        else {
          first.attempts += 1;
          first.pushed ||= pushed;
        }
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.lead.key < b.lead.key ? -1 : 1));
}

/** Sorted. Where two deliveries of the batch bind one nonce, the first does. */
export function distinctNonces(
  deliveries: readonly TakenDelivery[],
  replays: ReadonlySet<TakenDelivery>,
): readonly BoundNonce[] {
  const found = new Map<string, BoundNonce>();
  for (const delivery of deliveries) {
    const { nonce } = delivery;
    if (nonce !== undefined && !replays.has(delivery) && !found.has(nonce.key)) found.set(nonce.key, nonce);
  }
  return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

interface Asked {
  /** How many numbers to draw. */
  readonly numbers: number;
  readonly nonces: readonly BoundNonce[];
  readonly leads: readonly DistinctLead[];
  /** Ids of leads that may have been erased. */
  readonly ids: ReadonlySet<string>;
}

/** The first message of a transaction. Its order is that of all its locks: nonces, then ids, each sorted. */
export function takeQuestions(
  context: StoreContext,
  { numbers, nonces, leads, ids }: Asked,
): Readonly<Record<string, Sql>> {
  const questions: Record<string, Sql> = { gate: numberGate(context) };
  if (nonces.length > 0) questions['nonces'] = bindNonces(context, nonces);
  questions['leads'] = insertLeads(context, leads, numbers);
  // Behind the locks on the ids: a process that erases one of them has committed, or waits for this transaction.
  if (ids.size > 0) questions['erased'] = erasedQuestion(context, ids);
  return questions;
}

/**
 * Lets readers know, while the transaction lasts, that every number it draws is beyond this one (`read/read-database.ts`).
 * The lock is shared, and nobody waits for it.
 */
const numberGate = ({ schema, lockKey }: StoreContext): Sql =>
  sql`SELECT pg_advisory_xact_lock_shared(${lockKey}::int4, (last_value & 2147483647)::int4) FROM ${schema}.delivery_numbers;`;

/** Gives the digest that each nonce is bound to now. */
function bindNonces({ schema, nonceClock, options }: StoreContext, nonces: readonly BoundNonce[]): Sql {
  const now = nonceClock.now();
  const isOver = sql`bound.expires <= ${now}`;
  return sql`INSERT INTO ${schema}.nonces AS bound (nonce, digest, expires)
    SELECT nonce, digest, ${now + options.nonceLifetimeMs} FROM unnest(${nonces.map(({ bytes }) => bytes)},
      ${nonces.map(({ digest }) => digest)}) AS new (nonce, digest)
    ON CONFLICT (nonce) DO UPDATE SET digest = CASE WHEN ${isOver} THEN excluded.digest ELSE bound.digest END,
      expires = CASE WHEN ${isOver} THEN excluded.expires ELSE bound.expires END
    RETURNING encode(nonce, 'hex') AS nonce, encode(digest, 'hex') AS digest;`;
}

/** Inserts the new ids, counts the deliveries of the others, and gives what is known of those, fields and leads joined. */
const insertLeads = ({ schema }: StoreContext, leads: readonly DistinctLead[], numbers: number): Sql =>
  sql`WITH drawn AS MATERIALIZED (
    SELECT nextval(${qualifiedName(schema, 'delivery_numbers')}::regclass) AS seq, place FROM generate_series(1, ${numbers}) AS place
  ), taken AS (
    INSERT INTO ${schema}.ids AS known (id, seq, first_at, digest, attempts, pushed)
    SELECT id, seq, first_at, digest, attempts, pushed FROM unnest(${leads.map(({ lead }) => lead.id)}::bytea[],
      ${leads.map(({ place }) => place)}::int8[], ${leads.map(({ lead }) => lead.arrival.delivery.receivedAt)}::int8[],
      ${leads.map(({ lead }) => lead.digest)}::bytea[], ${leads.map(({ attempts }) => attempts)}::int8[],
      ${leads.map(({ pushed }) => pushed)}::boolean[]
    ) AS new (id, place, first_at, digest, attempts, pushed) JOIN drawn USING (place) ORDER BY id
    ON CONFLICT (id) DO UPDATE SET attempts = known.attempts + excluded.attempts, pushed = known.pushed OR excluded.pushed
    RETURNING id, seq, first_at, digest, attempts
  )
  SELECT (SELECT string_agg(seq::text, ',' ORDER BY place) FROM drawn) AS numbers,
    (SELECT string_agg(concat_ws(':', encode(id, 'hex'), seq, first_at, encode(digest, 'hex'), attempts), ',') FROM taken WHERE seq NOT IN (SELECT seq FROM drawn)) AS known;`;

/** A lead on its way in. */
export interface TakenLead {
  readonly arrival: Arrival;
  readonly id: Uint8Array;
  /** The same in hex, which sorts as the bytes do. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** SHA-256 of the payload. */
  readonly digest: Uint8Array;
}

/** The leads of one delivery. */
export interface TakenDelivery {
  readonly content: DeliveryContent;
  readonly leads: readonly [TakenLead, ...TakenLead[]];
  readonly nonce:
    { readonly bytes: Uint8Array; readonly key: string; readonly digest: Uint8Array } | undefined;
}

interface KeptRejection extends RejectedDelivery {
  readonly content: DeliveryContent;
  /** Of the leads in it, of which nobody knows whether they are authentic. */
  readonly ids: readonly string[];
}

/** What one caller of `take`, or of `reject`, asks for. */
export type TakeWork =
  | { readonly kind: 'take'; readonly deliveries: readonly TakenDelivery[] }
  | { readonly kind: 'reject'; readonly rejections: readonly KeptRejection[] };

export const takeWork = (arrivals: readonly Arrival[], redact: RedactDelivery): TakeWork => ({
  kind: 'take',
  deliveries: groupByDelivery(arrivals).map((group) => takenDelivery(group, redact)),
});

export const rejectWork = (rejected: readonly RejectedDelivery[], redact: RedactDelivery): TakeWork => ({
  kind: 'reject',
  rejections: rejected.map((one) => {
    const content = rejectedContentOf(one.delivery, redact);
    const ids = one.leadId === undefined ? memberIds(one.delivery.body) : [one.leadId];
    return { ...one, content, ids };
  }),
});

/** In bytes as they came. */
export function sizeOfWork(work: TakeWork): number {
  const parts: readonly { content: DeliveryContent; leads?: readonly TakenLead[] }[] =
    work.kind === 'take' ? work.deliveries : work.rejections;
  return parts.reduce((sum, { content, leads = [] }) => {
    const ids = leads.reduce((bytes, { id }) => bytes + id.length, 0);
    const headers = content.headers.reduce((bytes, [name, value]) => bytes + name.length + value.length, 0);
    return sum + content.body.length + headers + ids + content.path.length;
  }, 0);
}

function takenDelivery(group: Group, redact: RedactDelivery): TakenDelivery {
  const [first, ...more] = group;
  const { delivery, nonce } = first;
  const bodyDigest = nonce === undefined && first.place !== undefined ? undefined : sha256(delivery.body);
  return {
    content: contentOf(delivery, redact),
    leads: [takenLead(first, bodyDigest), ...more.map((arrival) => takenLead(arrival, bodyDigest))],
    nonce: nonce === undefined || bodyDigest === undefined ? undefined : nonceOf(nonce, bodyDigest),
  };
}

/** `bodyDigest`: the lead's as well where the body is the lead. */
function takenLead(arrival: Arrival, bodyDigest: Uint8Array | undefined): TakenLead {
  const { delivery, leadId, place } = arrival;
  const id = bytesOfText(leadId);
  const payload = leadBytes(delivery.body, place);
  const digest = place === undefined && bodyDigest !== undefined ? bodyDigest : sha256(payload);
  return { arrival, id, key: hexOf(id), payload, digest };
}

function nonceOf(nonce: string, digest: Uint8Array): NonNullable<TakenDelivery['nonce']> {
  const bytes = bytesOfText(nonce);
  return { bytes, key: hexOf(bytes), digest };
}
