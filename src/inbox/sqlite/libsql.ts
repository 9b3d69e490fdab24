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

type DatabaseClass = new (path: string, options: { timeout: number }) => Database;

/** Loads the native module. `timeout`: how long a transaction waits for another process's, in milliseconds. */
export async function loadLibsql(): Promise<DatabaseClass> {
  const { default: Libsql } = (await import('libsql')) as unknown as { default: DatabaseClass };
  return Libsql;
}
