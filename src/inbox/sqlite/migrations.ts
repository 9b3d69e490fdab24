import { createdAtNotKept } from '../delivery-record.ts';
import { mostAttemptsCounted, removedPerMs } from '../query-types.ts';
import { applicationId, currentVersion, versionOf } from './database-file.ts';
import type { Database } from './libsql.ts';
import { nameTargetsByKey } from './target-tables.ts';

/** Brings the schema to its next version. `now` in milliseconds since the epoch. */
type Migration = (database: Database, now: number) => void;

/** `user_version` counts those that a database has had. */
const migrations: readonly Migration[] & { readonly length: typeof currentVersion } = [
  (database) =>
    database.exec(`
  CREATE TABLE counter (seq INTEGER NOT NULL);
  INSERT INTO counter VALUES (0);
  CREATE TABLE leads (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL,
    first_at INTEGER NOT NULL, attempts INTEGER NOT NULL, digest BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, lead TEXT, verdict TEXT NOT NULL, reason TEXT, detail TEXT,
    status INTEGER NOT NULL, attempt INTEGER NOT NULL, source TEXT NOT NULL, differs TEXT,
    remote TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL
  );
  CREATE INDEX repeats ON deliveries (lead) WHERE attempt > 1;
  CREATE INDEX rejects ON deliveries (seq) WHERE verdict = 'rejected';
  CREATE TABLE work (
    lead TEXT NOT NULL, target TEXT NOT NULL, done INTEGER NOT NULL, owner TEXT NOT NULL, lease INTEGER NOT NULL,
    PRIMARY KEY (lead, target)
  ) WITHOUT ROWID;
  CREATE INDEX undone ON work (target) WHERE done = 0;
  CREATE TABLE nonces (nonce TEXT PRIMARY KEY, digest BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX nonces_by_time ON nonces (expires);
  `),
  (database, now) => {
    database.exec(`
    CREATE TABLE target_key (key BLOB NOT NULL, overwrite_due INTEGER NOT NULL);
    CREATE TABLE targets (name TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE results (
      seq INTEGER NOT NULL, number INTEGER NOT NULL, target TEXT NOT NULL, ok INTEGER NOT NULL, answer TEXT NOT NULL,
      at INTEGER NOT NULL, duration_ms INTEGER NOT NULL, PRIMARY KEY (seq, number)
    ) WITHOUT ROWID;
    CREATE TRIGGER delivery_dropped AFTER DELETE ON deliveries BEGIN DELETE FROM results WHERE seq = OLD.seq; END;
    CREATE TABLE dropped_repeats (lead TEXT PRIMARY KEY, differing INTEGER NOT NULL, same INTEGER NOT NULL) WITHOUT ROWID;
    DROP INDEX repeats;
    CREATE INDEX repeats ON deliveries (lead, differs IS NULL, seq) WHERE attempt > 1;
    CREATE TABLE nonce_clock (at INTEGER NOT NULL);
    `);
    // The nonces of the version before expire by the system's time: theirs goes on from it.
    database.prepare('INSERT INTO nonce_clock VALUES (?)').run([now]);
    nameTargetsByKey(database);
  },
  (database) =>
    database.exec(`
  ALTER TABLE deliveries ADD COLUMN lead_start INTEGER;
  ALTER TABLE deliveries ADD COLUMN lead_end INTEGER;
  ALTER TABLE deliveries ADD COLUMN first_seq INTEGER;
  CREATE TABLE receivers (
    owner TEXT NOT NULL, target TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (owner, target)
  ) WITHOUT ROWID;
  CREATE TABLE shared_content (seq INTEGER PRIMARY KEY, headers TEXT NOT NULL, body BLOB NOT NULL);
  CREATE INDEX sharing ON deliveries (first_seq) WHERE first_seq IS NOT NULL;
  CREATE TRIGGER last_sharing_dropped AFTER DELETE ON deliveries
    WHEN OLD.first_seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries WHERE first_seq = OLD.first_seq)
    BEGIN DELETE FROM shared_content WHERE seq = OLD.first_seq; END;
  `),
  (database) =>
    database.exec(`
  CREATE TABLE erased (
    digest BLOB PRIMARY KEY, seq INTEGER NOT NULL, first_at INTEGER NOT NULL, attempts INTEGER NOT NULL
  ) WITHOUT ROWID;
  `),
  (database) =>
    database.exec(`
  ALTER TABLE work ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE work ADD COLUMN since INTEGER;
  ALTER TABLE work ADD COLUMN due_at INTEGER;
  ALTER TABLE work ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX due ON work (target, MAX(due_at, lease)) WHERE done = 0 AND dead = 0;
  CREATE INDEX dead ON work (target) WHERE dead = 1;
  `),
  (database, now) => {
    database.exec(`
    ALTER TABLE deliveries ADD COLUMN created_at INTEGER DEFAULT ${createdAtNotKept};
    CREATE INDEX counted ON deliveries (received_at, verdict, reason, source, attempt, created_at);
    CREATE TABLE removed (
      minute INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL, attempt INTEGER NOT NULL,
      count INTEGER NOT NULL, PRIMARY KEY (minute, verdict, reason, source, attempt)
    ) WITHOUT ROWID;
    CREATE TRIGGER removed_counted AFTER DELETE ON deliveries BEGIN
      INSERT INTO removed VALUES (OLD.received_at - OLD.received_at % ${removedPerMs}, OLD.verdict, COALESCE(OLD.reason, ''),
        OLD.source, MIN(OLD.attempt, ${mostAttemptsCounted}), 1) ON CONFLICT DO UPDATE SET count = count + 1;
    END;
    CREATE TABLE counted_since (at INTEGER NOT NULL);
    `);
    // Where a number is missing, a delivery was removed before there was a count of it.
    database
      .prepare(
        `INSERT INTO counted_since SELECT CASE WHEN (SELECT COUNT(*) FROM deliveries) < seq THEN ? ELSE 0 END FROM counter`,
      )
      .run([now]);
  },
];

/** Throws a `ConfigError` for a database of another program, or one that a newer version of this program made. */
export function migrate(database: Database, path: string, now: number, version = currentVersion): void {
  if (versionOf(database, path) === version) return;
  // What is removed must not stay readable in the file.
  database.prepare('PRAGMA secure_delete = ON').all([]);
  // Another process may be doing the same at this moment: look again once the lock is held.
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const step of migrations.slice(versionOf(database, path), version)) step(database, now);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
  database.prepare('PRAGMA secure_delete = OFF').all([]);
}
