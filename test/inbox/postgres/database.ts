import { onTestFinished } from 'vitest';
import { newSchema, type PostgresAddress, superuser, urlOf } from '../../support/postgres/address.ts';
import { locationOf } from './location.ts';

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
