import type { Dialect } from './dialect.ts';

export const schemaVersion = 1;

/**
 * The statements that make the tables of an inbox. Times are milliseconds since the epoch.
 *
 * - `meta` has one row: the version; the last number of a delivery; the secret key under which ids and names are digested; whether
 *   erased data is still to be overwritten; the time by the clock of the nonces, and the system's time, at the last transaction
 *   (`nonces_at`, `noted_at`); and by how much the system's time was set back so far (`clock_ahead`).
 * - `leads` has every id for ever, with the number and the time of its first delivery, how many came, and the digest of the first.
 * - `deliveries` has a row for each lead of a delivery, and for each delivery without one. Where it has several leads, `first_seq` is
 *   the number of the first of them, and `contents` has headers and body under that number, once for all of them.
 * - `results` has the attempts at a delivery's targets, and `removed` the counts of deliveries that were deleted. `erased` keeps what
 *   stays of an erased lead, under a keyed digest of its id.
 * - `targets` has the label of each target, `forwards` how far each lead is at each of its targets (`forwards.ts`), and `nonces` the
 *   digest of the body that each nonce came with.
 */
export function schemaOf({ text, bytes, numberKey, keyed, changing, larger }: Dialect): readonly string[] {
  return [
    `CREATE TABLE @meta (version BIGINT NOT NULL, seq BIGINT NOT NULL, key ${bytes} NOT NULL,
      overwrite_due BIGINT NOT NULL, nonces_at BIGINT NOT NULL, noted_at BIGINT NOT NULL, clock_ahead BIGINT NOT NULL)`,
    `CREATE TABLE @leads (id ${text} PRIMARY KEY, seq BIGINT NOT NULL, first_at BIGINT NOT NULL, attempts BIGINT NOT NULL,
      digest ${bytes} NOT NULL)${keyed}${changing}`,
    `CREATE TABLE @deliveries (seq ${numberKey}, received_at BIGINT NOT NULL, lead ${text}, verdict TEXT NOT NULL,
      reason TEXT, detail TEXT, status BIGINT NOT NULL, attempt BIGINT NOT NULL, source TEXT NOT NULL, differs TEXT,
      remote TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL, body ${bytes} NOT NULL,
      lead_start INTEGER, lead_end INTEGER, first_seq BIGINT)`,
    `CREATE INDEX repeats ON @deliveries (lead, (differs IS NULL), seq) WHERE attempt > 1`,
    `CREATE INDEX rejects ON @deliveries (seq) WHERE verdict = 'rejected'`,
    `CREATE INDEX sharing ON @deliveries (first_seq) WHERE first_seq IS NOT NULL`,
    `CREATE INDEX counted ON @deliveries (received_at, verdict, reason)`,
    `CREATE TABLE @contents (seq ${numberKey}, headers TEXT NOT NULL, body ${bytes} NOT NULL)`,
    `CREATE TABLE @results (seq BIGINT NOT NULL, number BIGINT NOT NULL, target TEXT NOT NULL, ok BIGINT NOT NULL,
      answer TEXT NOT NULL, at BIGINT NOT NULL, duration_ms BIGINT NOT NULL, kind TEXT NOT NULL, address TEXT,
      PRIMARY KEY (seq, number))${keyed}`,
    `CREATE TABLE @removed (minute BIGINT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL,
      is_repeat BIGINT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (minute, verdict, reason, source, is_repeat))${keyed}`,
    `CREATE TABLE @erased (digest ${bytes} PRIMARY KEY, seq BIGINT NOT NULL, first_at BIGINT NOT NULL,
      attempts BIGINT NOT NULL)${keyed}`,
    `CREATE TABLE @targets (name TEXT PRIMARY KEY, label TEXT NOT NULL)${keyed}`,
    `CREATE TABLE @forwards (lead ${text} NOT NULL, target TEXT NOT NULL, seq BIGINT NOT NULL, request BIGINT NOT NULL,
      state TEXT NOT NULL, claim BIGINT NOT NULL, tries BIGINT NOT NULL, since BIGINT NOT NULL, due_at BIGINT NOT NULL,
      claimed_until BIGINT NOT NULL, PRIMARY KEY (lead, target))${keyed}${changing}`,
    `CREATE INDEX undone ON @forwards (target, lead) WHERE state <> 'done'`,
    `CREATE INDEX due ON @forwards (target, ${larger}(due_at, claimed_until), request) WHERE state = 'waiting'`,
    `CREATE INDEX dead ON @forwards (seq) WHERE state = 'dead'`,
    `CREATE TABLE @nonces (nonce ${text} PRIMARY KEY, digest ${bytes} NOT NULL, expires BIGINT NOT NULL)${keyed}`,
    `CREATE INDEX nonces_by_time ON @nonces (expires)`,
  ];
}
