import { describe, onTestFinished } from 'vitest';
import { newSchema, type PostgresAddress, superuser, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { locationOf } from './location.ts';

const shared = await sharedPostgres();

/** Declares tests that need PostgreSQL; they are skipped where there is none. */
export function describeWithPostgres(name: string, declare: (address: PostgresAddress) => void): void {
  describe.skipIf(shared === undefined)(name, () => {
    if (shared !== undefined) declare(shared);
  });
}

/** A schema that nothing else uses, as receivers open it and as a superuser looks into it. */
export function inboxIn(
  address: PostgresAddress,
  parts: { readonly database?: string; readonly user?: string } = {},
) {
  const name = newSchema();
  const client = superuser(address, parts.database);
  onTestFinished(() => client.end({ timeout: 1 }));
  const location = (more: { readonly port?: number; readonly user?: string } = {}) =>
    locationOf(urlOf(address, { ...parts, ...more, parameters: { schema: name } }));
  return {
    name,
    client,
    /** `port`: of a proxy before the server. */
    location,
    /** `S.` stands for the schema. */
    query: (text: string) => client.unsafe(text.replaceAll('S.', `"${name}".`)),
  };
}
