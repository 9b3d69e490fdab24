import { type BatchItem, type Changes, keysOf, leadsIn, type StoredState } from '../decide.ts';
import { erasedIdDigest } from '../remaining-content.ts';
import type { ErasedLead } from '../inbox.ts';
import { payload } from './deliveries.ts';
import { maxComparedBytes } from '../store-options.ts';
import type { Dialect } from './dialect.ts';
import { trimRejected, trimRepeats } from './removal.ts';
import { bytesOf, leadHistoryOf, numberOf, type Rows, textOf, type Value } from './row.ts';
import { ask, type Query, sql, type Work } from './statement.ts';

/** First payloads that are read for one batch: a lead beyond these counts as not compared. */
const maxPayloads = 64;

/** Reads the rows that the decision on a batch depends on. `key`: the key of the inbox, under which erased ids are digested. */
export function* loadStoredState(
  dialect: Dialect,
  key: Uint8Array,
  batch: readonly BatchItem[],
): Work<StoredState> {
  const keys = keysOf(batch);
  const [someErased = [], leadRows = [], nonceRows = []] = yield [
    sql`SELECT 1 AS one FROM @erased LIMIT 1`,
    ...(keys.leads.size === 0 ? [] : [leadsQuery(dialect, [...keys.leads])]),
    ...(keys.nonces.size === 0 ? [] : [noncesQuery(dialect, [...keys.nonces])]),
  ];
  const leads = new Map(
    leadRows.map((row) => [textOf(row['id']), { ...leadHistoryOf(row), digest: bytesOf(row['digest']) }]),
  );
  const nonces = new Map(
    nonceRows.map((row) => [
      textOf(row['nonce']),
      { digest: bytesOf(row['digest']), expires: numberOf(row['expires']) },
    ]),
  );
  const erased =
    someErased.length === 0 ? new Map<string, never>() : yield* erasedLeads(dialect, key, keys.ids());
  const unpushed = leads.size === 0 ? new Set<string>() : yield* unpushedLeads(dialect, [...leads.keys()]);
  const seqs = differingSeqs(batch, leads).slice(0, maxPayloads);
  const payloads = seqs.length === 0 ? new Map<number, never>() : yield* firstPayloads(dialect, seqs);
  return { leads, nonces, erased, payloads, unpushed };
}

/** The numbers of the first deliveries of those leads that came now with other bytes. */
function differingSeqs(batch: readonly BatchItem[], leads: StoredState['leads']): readonly number[] {
  const seqs = new Set<number>();
  for (const { id, digest } of batch.flatMap(leadsIn)) {
    const lead = leads.get(id);
    if (lead !== undefined && Buffer.compare(lead.digest, digest) !== 0) seqs.add(lead.seq);
  }
  return [...seqs];
}

/** Finds the leads that were fetched for no target, as an audit does, and never pushed. */
function* unpushedLeads(dialect: Dialect, ids: readonly string[]): Work<ReadonlySet<string>> {
  const rows: Rows = yield* ask(
    sql`SELECT id FROM ${dialect.tableOf(ids)} ${dialect.joinBySearch} @leads ON id = asked.value
      WHERE NOT EXISTS (SELECT 1 FROM @forwards AS f WHERE f.lead = id)
      AND EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.seq = leads.seq AND d.source = 'backfill')
      AND NOT EXISTS (SELECT 1 FROM @deliveries AS d WHERE d.lead = id AND d.attempt > 1 AND d.source = 'push')`,
  );
  return new Set(rows.map((row) => textOf(row['id'])));
}

/** A lone delivery, the most frequent batch, needs no table of ids. */
const leadsQuery = (dialect: Dialect, ids: readonly string[]): Query =>
  ids.length === 1
    ? sql`SELECT id, seq, first_at, attempts, digest FROM @leads WHERE id = ${ids[0] ?? ''}`
    : sql`SELECT id, seq, first_at, attempts, digest FROM ${dialect.tableOf(ids)} ${dialect.joinBySearch} @leads ON id = asked.value`;

const noncesQuery = (dialect: Dialect, nonces: readonly string[]): Query =>
  sql`SELECT nonce, digest, expires FROM ${dialect.tableOf(nonces)} ${dialect.joinBySearch} @nonces ON nonce = asked.value`;

const digestsAtOnce = 500;

/** Finds those of the ids whose lead was erased. */
export function* erasedLeads(
  dialect: Dialect,
  key: Uint8Array,
  ids: Iterable<string>,
): Work<ReadonlyMap<string, ErasedLead>> {
  const byDigest = new Map<string, string>();
  for (const id of ids) byDigest.set(erasedIdDigest(key, id).toString('hex'), id);
  const digests = [...byDigest.keys()];
  const erased = new Map<string, ErasedLead>();
  for (let i = 0; i < digests.length; i += digestsAtOnce) {
    const page = digests.slice(i, i + digestsAtOnce);
    const rows: Rows = yield* ask(
      sql`SELECT asked.value AS digest, seq, first_at, attempts FROM ${dialect.tableOf(page)} ${dialect.joinBySearch} @erased
        ON digest = ${dialect.unhex('asked.value')}`,
    );
    for (const row of rows) erased.set(byDigest.get(textOf(row['digest'])) ?? '', leadHistoryOf(row));
  }
  return erased;
}

/** First payloads that are small enough to be compared, by the numbers of their deliveries. */
function* firstPayloads(dialect: Dialect, seqs: readonly number[]): Work<ReadonlyMap<number, Uint8Array>> {
  const rows: Rows = yield* ask(
    sql`SELECT d.seq, ${payload} AS payload
      FROM ${dialect.tableOf(seqs)} ${dialect.joinBySearch} @deliveries AS d ON d.seq = CAST(asked.value AS BIGINT)
      WHERE COALESCE(d.lead_end - d.lead_start, length(d.body)) <= ${maxComparedBytes}`,
  );
  return new Map(rows.map((row) => [numberOf(row['seq']), bytesOf(row['payload'])]));
}

/** `noncesNow`: the time by the clock of the nonces. */
export function* saveChanges(dialect: Dialect, changes: Changes, noncesNow: number): Work<void> {
  const { deliveries, contents, leads, forwards, nonces, repeated, trimmed, rejectedKinds } = changes;
  const bound = [...nonces].map(([nonce, { digest, expires }]): Value[] => [nonce, digest, expires]);
  yield [
    { into: 'deliveries', rows: deliveries },
    { into: 'contents', rows: contents },
    { into: 'leads', rows: leads },
    { into: 'forwards', rows: forwards },
    ...[...repeated].map(([id, attempts]) => sql`UPDATE @leads SET attempts = ${attempts} WHERE id = ${id}`),
  ];
  if (bound.length > 0) yield* bindNonces(dialect, bound, noncesNow);
  for (const { id, differs } of trimmed) yield* trimRepeats(dialect, id, differs);
  for (const kind of rejectedKinds) yield* trimRejected(dialect, kind);
}

/** Expired nonces that are removed for each one that is added: with more than one, they never pile up. */
const noncesRemovedPerAdded = 2;

function* bindNonces(dialect: Dialect, bound: readonly (readonly Value[])[], now: number): Work<void> {
  const nonces = bound.map(([nonce = null]) => nonce);
  yield [
    // An expired nonce may be bound again: its old row goes first.
    sql`DELETE FROM @nonces WHERE nonce IN (SELECT value FROM ${dialect.tableOf(nonces)})`,
    { into: 'nonces', rows: bound },
    sql`DELETE FROM @nonces WHERE nonce IN (SELECT nonce FROM @nonces WHERE expires <= ${now} ORDER BY expires
      LIMIT ${bound.length * noncesRemovedPerAdded})`,
  ];
}
