import { LeadsError, type Problem } from '../errors.ts';
import type { DatabaseLocation } from '../inbox/postgres/connection/database-location.ts';
import { checkServer } from '../inbox/postgres/check-server.ts';
import { isInbox } from '../inbox/postgres/database-schema.ts';
import { withSession } from '../inbox/postgres/open-session.ts';
import type { Session } from '../inbox/postgres/session.ts';
import { textOf } from '../inbox/sql/row.ts';
import { Query } from '../inbox/sql/statement.ts';
import { type CheckResult, fail, pass, warn } from './check-result.ts';

const name = 'receiver.inbox';
const serverState = new Query(`SELECT current_setting('server_version') AS version,
  current_setting('transaction_read_only') AS read_only`);

/** Whether the database can be written, holds an inbox, and stores durably. A schema that is not there is not made. */
export async function checkDatabase(location: DatabaseLocation): Promise<readonly CheckResult[]> {
  try {
    return await withSession(location, (session) => checkContents(session, location));
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    return [fail(name, error)];
  }
}

async function checkContents(session: Session, location: DatabaseLocation): Promise<CheckResult[]> {
  const { shown: place } = location;
  const [[{ version, read_only: readOnly } = {}] = []] = await session.run([serverState]);
  const warnings: Problem[] = [];
  await checkServer(session, location, (warning) => warnings.push(warning));
  const otherHosts = 'a standby? name all hosts in the URL, and target_session_attrs=read-write';
  if (readOnly === 'on') return [fail(name, 'the database takes no writes', otherHosts)];
  const migrate = "run 'leads inbox migrate' with the role that owns it";
  if (!(await isInbox(session, location))) return [warn(name, `there is no inbox in ${place}`, migrate)];
  if (warnings.length > 0) return warnings.map((warning) => warn(name, warning));
  return [pass(name, `${place} opens, and syncs to disk: PostgreSQL ${textOf(version)}`)];
}
