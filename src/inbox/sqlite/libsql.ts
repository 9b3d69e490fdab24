import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.ts';
import type { Row, Value } from '../sql/row.ts';

/** The part of libsql that is used here; the types of the package declare members that it does not have. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * Values are always passed as one array, since libsql reads a lone object as named parameters. A statement whose `get` has thrown
 * throws in every later call.
 */
export interface Statement {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): Row[];
}

/** `timeout`: how long a transaction waits for that of another process, in milliseconds, while the event loop is blocked. */
type OpenDatabase = new (path: string, options: { timeout: number }) => Database;

/** The version that this release is tested with; npm leaves the package out under `--omit=optional`. */
export const libsqlVersion = '0.5.29';

/** Loads the native module. Rejects with a `ConfigError` where it is not installed. */
export async function loadLibsql(
  load: () => Promise<unknown> = () => import('libsql'),
): Promise<OpenDatabase> {
  try {
    return ((await load()) as { readonly default: OpenDatabase }).default;
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError('the package libsql is not installed, or not for this platform', {
      hint: `npm install libsql@${libsqlVersion}, with --global where leads was installed so`,
      cause: error,
    });
  }
}

export const readOnlyUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

/** The URL of a file to which no process writes, for a directory in which SQLite cannot make files. A `-wal` beside it is not read. */
export const immutableUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro&immutable=1`;
