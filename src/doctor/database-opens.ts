import { LeadsError } from '../errors.ts';
import { connect } from '../inbox/postgres/connection/connect.ts';
import type { Connection, Connections } from '../inbox/postgres/connection/database-connections.ts';
import type { DatabaseLocation } from '../inbox/postgres/connection/database-location.ts';
import { isInbox } from '../inbox/postgres/create-schema.ts';
import { checkServer } from '../inbox/postgres/open-schema.ts';
import { cannotOpen, sqlState } from '../inbox/postgres/postgres-errors.ts';
import { identifier, sql } from '../inbox/postgres/sql.ts';
import type { InboxWarning } from '../inbox/problems.ts';
import { type CheckResult, fail, pass, warn } from './check-result.ts';

const name = 'receiver.inbox';
const state = sql`SELECT current_setting('server_version') AS version,
  current_setting('transaction_read_only') AS read_only`;

/** Whether the database of an inbox takes deliveries, and keeps what it is given. A schema that is not there is not made. */
export async function checkDatabase(location: DatabaseLocation): Promise<readonly CheckResult[]> {
  let connections: Connections | undefined;
  try {
    connections = await connect(location, { connections: 1 });
    return await connections.use((connection) => checkContents(connection, location));
  } catch (error) {
    if (!(error instanceof LeadsError) && sqlState(error) === '') throw error;
    return [fail(name, cannotOpen(location.shown, error))];
  } finally {
    await connections?.close();
  }
}

async function checkContents(connection: Connection, location: DatabaseLocation): Promise<CheckResult[]> {
  const { shown, url } = location;
  const [[{ version, read_only: readOnly } = {}] = []] = await connection.run(state);
  const warnings: InboxWarning[] = [];
  await checkServer(connection, location, (warning) => warnings.push(warning));
  const writable = 'a standby? name all hosts in the URL, and target_session_attrs=read-write';
  if (readOnly === 'on') return [fail(name, 'the database takes no writes', writable)];
  const migrate = "run 'leads inbox migrate' with the role that owns it";
  if (!(await isInbox(connection, identifier(url.schema), shown)))
    return [warn(name, `there is no inbox in ${shown}`, migrate)];
  if (warnings.length > 0) return warnings.map((warning) => warn(name, warning));
  return [pass(name, `${shown} opens, and syncs to disk: PostgreSQL ${String(version)}`)];
}
