import { chmodSync, closeSync, fstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { cannotOpen } from './sqlite-errors.ts';
import { migrate, versionOf } from './schema.ts';

/** `get` gives blobs as a Buffer, `all` as an ArrayBuffer. */
export type Value = string | number | null | Uint8Array | ArrayBuffer;
export type Row = Readonly<Record<string, Value>>;

/** The part of libsql that is used here; its own types promise more than it has. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** Values always go in as one array: a lone object would be read as named parameters. */
export interface Statement {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): Row[];
}

type Open = new (path: string, options: { timeout: number }) => Database;

/** How long a transaction waits for another process's, in milliseconds. */
const busyMs = 5000;

/**
 * Opens the database, makes it when it is not there (0600; its directory 0700), and brings its schema up to date.
 * Throws a `ConfigError` that says why it cannot.
 */
export async function openDatabase(place: string): Promise<Database> {
  const { default: Libsql } = (await import('libsql')) as unknown as { default: Open };
  let database: Database | undefined;
  try {
    makeFile(place);
    database = new Libsql(place, { timeout: busyMs });
    // Only read so far: another program's database must stay as it is.
    versionOf(database, place);
    chmodSync(place, 0o600);
    database.prepare('PRAGMA journal_mode = WAL').all([]);
    // An acknowledged lead must survive a power cut: every commit is synced.
    database.exec('PRAGMA synchronous = FULL');
    migrate(database, place);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof ConfigError ? error : cannotOpen(place, error);
  }
}

/** The database's companions (`-wal`, `-shm`) take their mode from the file, so it must exist with the right one. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'a+', 0o600);
  const isFile = fstatSync(file).isFile();
  closeSync(file);
  // A device would be given our mode and a journal beside it.
  if (!isFile) throw new ConfigError(`cannot open the inbox ${path}: it is no regular file`);
}
