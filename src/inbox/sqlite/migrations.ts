import { ConfigError } from '../../errors.ts';
import type { Database } from './libsql.ts';

/** Each entry brings the schema to its next version; `user_version` counts those that a database has had. */
const migrations: readonly string[] = [
  `
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
  `,
];

/** Marks the file as ours ("lead"), so that another program's database is never written to. */
const applicationId = 0x6c656164;

/** Throws a `ConfigError` for a database of another program, or one that a newer version of this program made. */
export function migrate(database: Database, path: string): void {
  if (versionOf(database, path) === migrations.length) return;
  // Another process may be doing the same at this moment: look again once the lock is held.
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const step of migrations.slice(versionOf(database, path))) database.exec(step);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** How many migrations a database has had. Only reads; throws as `migrate` does. */
export function versionOf(database: Database, path: string): number {
  const version = pragma(database, 'user_version');
  const isEmpty = database.prepare('SELECT name FROM sqlite_master LIMIT 1').get([]) === undefined;
  if (!isEmpty && pragma(database, 'application_id') !== applicationId) {
    throw new ConfigError(`${path} is the database of another program, not an inbox`, {
      hint: 'name another file with --inbox',
    });
  }
  if (version > migrations.length) {
    throw new ConfigError(`the inbox ${path} was made by a newer version of leads`, {
      hint: 'update leads, or name another --inbox',
    });
  }
  return version;
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get([])?.[name] ?? 0);
