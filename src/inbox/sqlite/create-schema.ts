import { randomBytes } from 'node:crypto';
import { mostAttemptsCounted, removedPerMs } from '../query-types.ts';
import { ConfigError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import type { Database } from './libsql.ts';

/** Marks the file as ours ("lead"), so that another program's database is never written to. */
const applicationId = 0x6c656164;

/** The version of the tables, as `user_version` has it. */
const schemaVersion = 1;

const schema = `
CREATE TABLE counter (seq INTEGER NOT NULL);
INSERT INTO counter VALUES (0);
CREATE TABLE leads (
  id TEXT PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, attempts INTEGER NOT NULL, digest BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, lead TEXT, verdict TEXT NOT NULL, reason TEXT, detail TEXT,
  status INTEGER NOT NULL, attempt INTEGER NOT NULL, source TEXT NOT NULL, differs TEXT,
  remote TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL,
  lead_start INTEGER, lead_end INTEGER, first_seq INTEGER, created_at INTEGER
);
CREATE INDEX repeats ON deliveries (lead, differs IS NULL, seq) WHERE attempt > 1;
CREATE INDEX rejects ON deliveries (seq) WHERE verdict = 'rejected';
CREATE INDEX sharing ON deliveries (first_seq) WHERE first_seq IS NOT NULL;
CREATE INDEX counted ON deliveries (received_at, verdict, reason, source, attempt, created_at);
CREATE TABLE shared_content (seq INTEGER PRIMARY KEY, headers TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE results (
  seq INTEGER NOT NULL, number INTEGER NOT NULL, target TEXT NOT NULL, ok INTEGER NOT NULL, answer TEXT NOT NULL,
  at INTEGER NOT NULL, duration_ms INTEGER NOT NULL, kind TEXT NOT NULL, address TEXT, PRIMARY KEY (seq, number)
) WITHOUT ROWID;
CREATE TABLE removed (
  minute INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL, attempt INTEGER NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (minute, verdict, reason, source, attempt)
) WITHOUT ROWID;
CREATE TRIGGER delivery_dropped AFTER DELETE ON deliveries BEGIN DELETE FROM results WHERE seq = OLD.seq; END;
CREATE TRIGGER last_sharing_dropped AFTER DELETE ON deliveries
  WHEN OLD.first_seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries WHERE first_seq = OLD.first_seq)
  BEGIN DELETE FROM shared_content WHERE seq = OLD.first_seq; END;
CREATE TRIGGER removed_counted AFTER DELETE ON deliveries BEGIN
  INSERT INTO removed VALUES (OLD.received_at - OLD.received_at % ${removedPerMs}, OLD.verdict, COALESCE(OLD.reason, ''),
    OLD.source, MIN(OLD.attempt, ${mostAttemptsCounted}), 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TABLE dropped_repeats (lead TEXT PRIMARY KEY, differing INTEGER NOT NULL, same INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE erased (
  digest BLOB PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, attempts INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE target_key (key BLOB NOT NULL, overwrite_due INTEGER NOT NULL);
CREATE TABLE targets (name TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forwards (
  lead TEXT NOT NULL, target TEXT NOT NULL, seq INTEGER NOT NULL, request INTEGER NOT NULL, state TEXT NOT NULL,
  tries INTEGER NOT NULL, since INTEGER NOT NULL, due_at INTEGER NOT NULL, claimed_until INTEGER NOT NULL,
  PRIMARY KEY (lead, target)
) WITHOUT ROWID;
CREATE INDEX undone ON forwards (target) WHERE state <> 'done';
CREATE INDEX due ON forwards (target, MAX(due_at, claimed_until), request) WHERE state = 'waiting';
CREATE INDEX dead ON forwards (target) WHERE state = 'dead';
CREATE TABLE nonces (nonce TEXT PRIMARY KEY, digest BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX nonces_by_time ON nonces (expires);
CREATE TABLE nonce_clock (at INTEGER NOT NULL);
INSERT INTO nonce_clock VALUES (0);
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${schemaVersion};
`;

/**
 * Whether the database has the tables of an inbox; an empty one has none yet. Only reads. Throws a `ConfigError` for a
 * database of another program, or of another version of this one.
 */
export function isInbox(database: Database, path: string): boolean {
  if (database.prepare('SELECT name FROM sqlite_master LIMIT 1').get([]) === undefined) return false;
  if (pragma(database, 'application_id') !== applicationId) {
    throw new ConfigError({ kind: 'inbox-of-other-program', inbox: path } satisfies InboxProblem);
  }
  if (pragma(database, 'user_version') !== schemaVersion) {
    throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: path } satisfies InboxProblem);
  }
  return true;
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get([])?.[name] ?? 0);

/** Makes the tables of an inbox in an empty database. Throws as `isInbox` does. */
export function createSchema(database: Database, path: string): void {
  if (isInbox(database, path)) return;
  // Another process may be doing the same at this moment: look again once the lock is held.
  database.exec('BEGIN IMMEDIATE');
  try {
    if (!isInbox(database, path)) {
      database.exec(schema);
      database.prepare('INSERT INTO target_key VALUES (?, 0)').run([randomBytes(32)]);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
