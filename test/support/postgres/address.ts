import { randomBytes } from 'node:crypto';
import postgres, { type Sql } from 'postgres';

/** Where a server of the tests answers. Over the socket everybody is trusted, over TCP the password is asked for. */
export interface PostgresAddress {
  /** The major version, such as 18. */
  readonly version: number;
  /** On 127.0.0.1. */
  readonly port: number;
  readonly socketDirectory: string;
  /** Of both roles: `postgres`, a superuser, and `leads`, who owns the database `leads` and may not do more. */
  readonly password: string;
}

interface UrlParts {
  readonly user?: string;
  /** `''`: none, for tests that give it in another way. */
  readonly password?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

export function urlOf(address: PostgresAddress, parts: UrlParts = {}): string {
  const { user = 'leads', password = address.password, host = '127.0.0.1', port = address.port } = parts;
  const { database = 'leads', parameters = {} } = parts;
  const search = new URLSearchParams(parameters).toString();
  const secret = password === '' ? '' : `:${password}`;
  return `postgres://${user}${secret}@${host}:${port}/${database}${search === '' ? '' : `?${search}`}`;
}

/** A schema that nothing else uses and that is not there yet; costs nothing. */
export const newSchema = (): string => `test_${randomBytes(6).toString('hex')}`;

/** The URL of an inbox that nothing else uses. */
export const newInboxUrl = (address: PostgresAddress, parts: UrlParts = {}): string =>
  urlOf(address, { ...parts, parameters: { schema: newSchema(), ...parts.parameters } });

/** The superuser's connections, over the socket. The caller ends them. */
export const superuser = (address: PostgresAddress, database = 'leads'): Sql =>
  postgres({
    host: address.socketDirectory,
    port: address.port,
    user: 'postgres',
    database,
    max: 2,
    onnotice: () => undefined,
  });

/** A database of the role `leads` that nothing else uses; gives its name. */
export async function newDatabase(address: PostgresAddress): Promise<string> {
  const name = newSchema();
  const sql = superuser(address, 'postgres');
  try {
    await sql`create database ${sql(name)} owner leads`;
    return name;
  } finally {
    await sql.end();
  }
}
