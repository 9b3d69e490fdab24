import { LeadsError } from '../errors.ts';
import { connect } from '../inbox/postgres/connection/connect.ts';
import type { Connection, Connections } from '../inbox/postgres/connection/database-connections.ts';
import type { DatabaseLocation } from '../inbox/postgres/connection/database-location.ts';
import { isInbox } from '../inbox/postgres/create-schema.ts';
import { checkServer } from '../inbox/postgres/open-schema.ts';
import { cannotOpen, sqlState } from '../inbox/postgres/postgres-errors.ts';
import { identifier, sql } from '../inbox/postgres/sql.ts';
import type { InboxWarning } from '../inbox/problems.ts';
import type { Clock } from '../time/clock.ts';
import { checkNamed, type CheckResult } from './check-result.ts';
import { type OtherClock, readNewest } from './inbox-opens.ts';

export interface OpenedStore {
  readonly checks: readonly CheckResult[];
  readonly clock: OtherClock;
  /** When the newest delivery came, ms. */
  readonly newestDelivery: number | undefined;
}

const state = sql`SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') AS read_only,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now`;

/** Whether the database of an inbox takes deliveries, and keeps what it is given. A schema that is not there is not made. */
export async function checkDatabase(location: DatabaseLocation, clock: Clock): Promise<OpenedStore> {
  let connections: Connections | undefined;
  let at: number | undefined;
  const ended = (checks: readonly CheckResult[], newestDelivery?: number): OpenedStore => ({
    checks,
    clock: { name: 'database', at },
    newestDelivery,
  });
  try {
    connections = await connect(location, { connections: 1 });
    const [[found = {}] = []] = await connections.use((connection) => connection.run(state));
    at = Number(found['now']);
    const { checks, isThere } = await connections.use((connection) =>
      checkContents(connection, location, found),
    );
    return ended(checks, isThere ? await readNewest(location, clock) : undefined);
  } catch (error) {
    if (!(error instanceof LeadsError) && sqlState(error) === '') throw error;
    return ended([opens.fail(cannotOpen(location.shown, error))]);
  } finally {
    await connections?.close();
  }
}

const opens = checkNamed('receiver.inbox');

async function checkContents(
  connection: Connection,
  location: DatabaseLocation,
  { version, read_only: readOnly }: Readonly<Record<string, unknown>>,
): Promise<{ readonly checks: readonly CheckResult[]; readonly isThere: boolean }> {
  const { shown, url } = location;
  const schema = identifier(url.schema);
  const warnings: InboxWarning[] = [];
  await checkServer(connection, location, (found) => warnings.push(found));
  if (readOnly === 'on') return { checks: [opens.fail({ kind: 'database-read-only' })], isThere: false };
  if (!(await isInbox(connection, schema, shown)))
    return { checks: [opens.warn({ kind: 'database-without-inbox', inbox: shown })], isThere: false };
  const opened = opens.pass({ kind: 'database-opens', inbox: shown, version: String(version) });
  const checks = warnings.length === 0 ? [opened] : warnings.map((warning) => opens.warn(warning));
  return { checks, isThere: true };
}
