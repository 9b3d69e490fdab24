import { describeWarning } from '../../messages/command-line.ts';
import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { connect } from '../../inbox/postgres/connection/connect.ts';
import type { Connection } from '../../inbox/postgres/connection/database-connections.ts';
import type { DatabaseLocation } from '../../inbox/postgres/connection/database-location.ts';
import { createSchema, isInbox, schemaStatements } from '../../inbox/postgres/create-schema.ts';
import { checkServer } from '../../inbox/postgres/open-schema.ts';
import { cannotOpen } from '../../inbox/postgres/postgres-errors.ts';
import { identifier, sql, statements } from '../../inbox/postgres/sql.ts';
import { write } from '../../output/stdout.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { InboxMigrateOptions } from './options.ts';

export async function run(options: InboxMigrateOptions, context: Context): Promise<Outcome> {
  const location = await resolveInbox(options, await context.settings(), context);
  if (typeof location === 'string') {
    throw new UsageError(`'leads inbox migrate' is for databases, and ${location} is a file`, {
      hint: 'name one by --inbox postgres://HOST/DATABASE; a file is made when it is opened',
    });
  }
  const connections = await connect(location, { connections: 1 });
  try {
    await connections.use((connection) => migrateSchema(connection, location, options, context));
  } catch (error) {
    throw cannotOpen(location.shown, error);
  } finally {
    await connections.close();
  }
  return 'done';
}

async function migrateSchema(
  connection: Connection,
  location: DatabaseLocation,
  { print: isPrinted }: InboxMigrateOptions,
  { stdout, messages }: Context,
): Promise<void> {
  const { url, shown } = location;
  const schema = identifier(url.schema);
  await checkServer(connection, location, (found) => messages.warn(describeWarning(found)));
  if (await isInbox(connection, schema, shown)) {
    messages.say(`the inbox ${shown} is there already`);
  } else if (isPrinted) {
    const made = await schemaStatements(connection, schema);
    await write(stdout, `${statements(sql`BEGIN;`, made, sql`COMMIT;`).text}\n`);
  } else {
    await createSchema(connection, schema, shown);
    messages.say(`made the inbox ${shown}`);
  }
}
