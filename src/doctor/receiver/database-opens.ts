import { LeadsError } from '../../errors.ts';
import type { DatabaseLocation } from '../../inbox/postgres/connection/address/database-location.ts';
import type { Connections } from '../../inbox/postgres/connection/database-connections.ts';
import type { Clock } from '../../time/clock.ts';
import { type CheckResult, checkNamed } from '../check-result.ts';
import { readNewest } from './inbox-opens.ts';
import type { OtherClock } from './storage.ts';

export interface OpenedStore {
  readonly checks: readonly CheckResult[];
  readonly clock: OtherClock;
  /** When the newest delivery came, ms. */
  readonly newestDelivery: number | undefined;
}

const oldestVersion = 14;
const clockName = "the database's clock";
const settings = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('transaction_read_only') AS read_only,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now`;

/** Whether the database of an inbox takes deliveries, and keeps what it is given. A schema that is not there is not made. */
export async function checkDatabase(location: DatabaseLocation, clock: Clock): Promise<OpenedStore> {
  const { connect } = await import('../../inbox/postgres/connection/connect.ts');
  let connections: Connections | undefined;
  let at: number | undefined;
  try {
    connections = await connect(location, { connections: 1 });
    const [[found = {}] = []] = await connections.use((connection) => connection.run({ text: settings }));
    at = Number(found['now']);
    const newestDelivery = await readNewest(location, clock);
    return { checks: [judge(found, location.shown)], clock: { name: clockName, at }, newestDelivery };
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    const failed = check.fail(error.message, error.hint);
    return { checks: [failed], clock: { name: clockName, at }, newestDelivery: undefined };
  } finally {
    await connections?.close();
  }
}

const check = checkNamed('receiver.inbox');

function judge(found: Readonly<Record<string, unknown>>, shown: string): CheckResult {
  const { version, fsync, full_page_writes: fullPages, read_only: readOnly } = found;
  const server = `PostgreSQL ${String(version)}`;
  if (Number.parseInt(String(version)) < oldestVersion) {
    return check.fail(`${server} is too old`, `an inbox needs PostgreSQL ${oldestVersion} or newer`);
  }
  if (fsync !== 'on') {
    return check.fail(
      `${server} runs with fsync=off: leads are lost when its machine stops`,
      'set fsync = on there',
    );
  }
  if (readOnly === 'on') {
    return check.fail(
      `${server} takes no writes`,
      'a standby? name all hosts in the URL, and target_session_attrs=read-write',
    );
  }
  if (fullPages !== 'on') {
    const hint = 'set full_page_writes = on there, unless its file system writes whole pages';
    return check.warn(`${server} runs with full_page_writes=off: a power cut may damage it`, hint);
  }
  return check.pass(`${shown} opens, and syncs to disk: ${server}`);
}
