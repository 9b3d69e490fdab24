import { pathToFileURL } from 'node:url';
import { packageError } from '../../files/optional-package.ts';
import type { Span } from '../../json/members.ts';
import { leadBytes } from '../lead-bytes.ts';

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

/**
 * Values always go in as one array: a lone object would be read as named parameters. A statement whose `get` has thrown
 * throws in every later call.
 */
export interface Statement {
  run(values: readonly Value[]): { readonly changes: number };
  get(values: readonly Value[]): Row | undefined;
  all(values: readonly Value[]): Row[];
}

/** The same with every statement in another thread. */
interface AsyncDatabase {
  prepare(sql: string): Promise<{ all(values: readonly Value[]): Promise<Row[]> }>;
  interrupt(): void;
  close(): void;
}

/** `timeout`: how long a transaction waits for another process's, in milliseconds, without an event loop. */
type Opens<T> = new (path: string, options: { timeout: number }) => T;

/** Loads the native module. Rejects with a `ConfigError` where it is not installed. */
export const loadLibsql = (load: () => Promise<unknown> = () => import('libsql')): Promise<Opens<Database>> =>
  loaded(load);

export const loadLibsqlAsync = (): Promise<Opens<AsyncDatabase>> => loaded(() => import('libsql/promise'));

async function loaded<T>(load: () => Promise<unknown>): Promise<T> {
  try {
    return ((await load()) as { readonly default: T }).default;
  } catch (error) {
    throw packageError('libsql', error);
  }
}

/** Of a file that must exist, and that is not written to. */
export const readOnlyUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

/** Of a file that nobody writes to, in a directory that cannot be written to either. A `-wal` beside it is not read. */
export const immutableUrl = (path: string): string => `${pathToFileURL(path).href}?mode=ro&immutable=1`;

/**
 * The database ends text at a NUL and cannot hold half a surrogate pair, so that two such ids would become one: these
 * are kept as JSON text, as is an id that looks like it.
 */
const unsafe = /\0|^json:"|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export const toColumn = (id: string): string => (unsafe.test(id) ? `json:${JSON.stringify(id)}` : id);

export const fromColumn = (text: string): string =>
  text.startsWith('json:"') ? (JSON.parse(text.slice(5)) as string) : text;

export const bytesOf = (value: Value | undefined): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array();
};

export const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

/** Where the lead is in the body of a row of `deliveries`. */
export const placeOf = ({ lead_start: start, lead_end: end }: Row): Span | undefined =>
  typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;

/** The number under which the row's body is shared with others. */
export const sharedSeqOf = ({ first_seq: seq }: Row): number | undefined =>
  typeof seq === 'number' ? seq : undefined;

/** The lead's own bytes of a delivery that is there, in a database of any version. */
export function leadBytesAt(database: Database, seq: number): Uint8Array {
  const [row = {}] = database.prepare('SELECT * FROM deliveries WHERE seq = ?').all([seq]);
  const sharedSeq = sharedSeqOf(row);
  const [shared] =
    sharedSeq === undefined
      ? [row]
      : database.prepare('SELECT body FROM shared_content WHERE seq = ?').all([sharedSeq]);
  return leadBytes(bytesOf(shared?.['body']), placeOf(row));
}
