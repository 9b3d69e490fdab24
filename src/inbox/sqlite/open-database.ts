import { chmodSync, closeSync, fstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { type Database, loadLibsql } from './libsql.ts';
import { migrate, versionOf } from './migrations.ts';
import { cannotOpen } from './sqlite-errors.ts';

/** How long a transaction waits for another process's, in milliseconds. */
const busyMs = 5000;

/**
 * Opens the database, makes it when it is not there (0600; its directory 0700), and brings its schema up to date.
 * Throws a `ConfigError` that says why it cannot.
 */
export async function openDatabase(path: string): Promise<Database> {
  const Libsql = await loadLibsql();
  let database: Database | undefined;
  try {
    makeFile(path);
    database = new Libsql(path, { timeout: busyMs });
    // Only read so far: another program's database must stay as it is.
    versionOf(database, path);
    chmodSync(path, 0o600);
    database.prepare('PRAGMA journal_mode = WAL').all([]);
    // An acknowledged lead must survive a power cut: every commit is synced.
    database.exec('PRAGMA synchronous = FULL');
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof ConfigError ? error : cannotOpen(path, error);
  }
}

/** The database's companions (`-wal`, `-shm`) take their mode from the file, so it must exist with the right one. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'a+', 0o600);
  const isFile = fstatSync(file).isFile();
  closeSync(file);
  // A device would get our mode, and a journal beside it.
  if (!isFile) throw new ConfigError(`cannot open the inbox ${path}: it is not a regular file`);
}
