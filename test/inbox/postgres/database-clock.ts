import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '../../support/clock.ts';
import { newSchema, type PostgresAddress, superuser } from '../../support/postgres/address.ts';

/** A clock of the test's that is the database's as well, for sessions with its parameters: both move together. */
export class DatabaseClock extends FakeClock {
  /** Of a URL. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly #path: string;

  private constructor(schema: string, path: string) {
    super();
    this.parameters = { options: `-csearch_path=${schema},pg_catalog` };
    this.#path = path;
    this.advance(0);
  }

  static async create(address: PostgresAddress): Promise<DatabaseClock> {
    const schema = newSchema();
    const path = join(address.socketDirectory, schema);
    const sql = superuser(address);
    await sql.unsafe(`CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO PUBLIC`);
    for (const name of ['statement_timestamp', 'clock_timestamp']) {
      await sql.unsafe(`CREATE FUNCTION ${schema}.${name}() RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER
        AS $$ SELECT to_timestamp(pg_read_file('${path}')::float8 / 1000) $$`);
    }
    await sql.end();
    return new DatabaseClock(schema, path);
  }

  override advance(ms: number): void {
    super.advance(ms);
    this.#write();
  }

  override set(ms: number): void {
    super.set(ms);
    this.#write();
  }

  /** Whole for each statement that reads it meanwhile. */
  #write(): void {
    writeFileSync(`${this.#path}.new`, String(this.now()));
    renameSync(`${this.#path}.new`, this.#path);
  }
}
