import { randomBytes } from 'node:crypto';
import { access, constants, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LeadsError, messageOf, type Problem } from '../errors.ts';
import { checkServer } from '../inbox/postgres/check-server.ts';
import type { DatabaseLocation } from '../inbox/postgres/database-location.ts';
import { isInbox } from '../inbox/postgres/database-schema.ts';
import { withSession } from '../inbox/postgres/open-session.ts';
import type { Session } from '../inbox/postgres/session.ts';
import { textOf } from '../inbox/sql/row.ts';
import { Query } from '../inbox/sql/statement.ts';
import { missingInbox, openInboxReader } from '../inbox/open-inbox.ts';
import { checkIntegrity } from '../inbox/sqlite/file-health.ts';
import { loadLibsql } from '../inbox/sqlite/libsql.ts';
import type { Clock } from '../time/clock.ts';
import { type CheckResult, fail, pass, warn } from './check-result.ts';

const name = 'receiver.inbox';
const elsewhere = 'name another place with --inbox or LEADS_DATA_DIR';

/** Whether the inbox opens, and stores durably. An inbox that is not there yet is not made. */
export async function checkInbox(
  location: string,
  storage: StorageProbe,
  clock: Clock,
): Promise<CheckResult> {
  if (location === ':memory:') return warn(name, 'in memory: it is lost when listen ends');
  const { directory, problem, volatile } = storage;
  if (problem === 'ENOSPC') return fail(name, `${directory} has no space left`, `free some, or ${elsewhere}`);
  if (problem !== undefined)
    return fail(name, `${directory} cannot be written (${problem})`, `make it writable, or ${elsewhere}`);
  try {
    const isThere = missingInbox(location) === undefined;
    await loadLibsql();
    if (isThere) await access(location, constants.R_OK | constants.W_OK);
    if (isThere) await (await openInboxReader({ location, clock })).close();
    const damage = isThere ? await checkIntegrity(location) : undefined;
    const hint = `'sqlite3 ${location} .recover | sqlite3 NEW' saves what it still holds`;
    if (damage !== undefined) return fail(name, `${location} is damaged: ${damage}`, hint);
    if (volatile !== undefined)
      return warn(name, `${directory} is on ${volatile}`, `for a local disk, ${elsewhere}`);
    return pass(name, `${location} ${isThere ? 'opens, and syncs to disk' : 'is made by the first listen'}`);
  } catch (error) {
    if (error instanceof LeadsError) return fail(name, error);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return fail(name, `${location} cannot be read and written (${code})`, 'it must belong to you');
  }
}

/**
 * The result of a small file that was written and synced next to the inbox, and removed. `volatile` names a file system on which an
 * acknowledged lead may be lost, and why; `problem` is the code of the error with which writing failed.
 */
interface StorageProbe {
  readonly directory: string;
  readonly freeBytes: number;
  readonly volatile: string | undefined;
  readonly problem: string | undefined;
}

const ram = 'which is empty after a restart of this machine';
const network = 'where locks and syncs of a database are not reliable';

/** By the type of a file system in statfs(2) of Linux. */
const volatileKinds: Readonly<Record<number, string>> = {
  0x01021994: `a tmpfs, ${ram}`,
  0x858458f6: `a ramfs, ${ram}`,
  0x6969: `NFS, ${network}`,
  0xff534d42: `an SMB share, ${network}`,
  0xfe534d42: `an SMB share, ${network}`,
};

export async function probeStorage(inbox: string): Promise<StorageProbe> {
  const directory = await nearestExisting(dirname(inbox));
  const { bavail, bsize, type } = await statfs(directory);
  const probe = { directory, freeBytes: bavail * bsize, volatile: volatileKinds[type] };
  try {
    if (directory === dirname(inbox)) await writeAndSync(directory);
    else await access(directory, constants.W_OK | constants.X_OK);
    return { ...probe, problem: undefined };
  } catch (error) {
    return { ...probe, problem: (error as NodeJS.ErrnoException).code ?? messageOf(error) };
  }
}

async function writeAndSync(directory: string): Promise<void> {
  // Others may write there too: `wx` follows no link that they made to a file of ours.
  const path = join(directory, `.leads-doctor-${randomBytes(6).toString('hex')}`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.write('leads doctor\n');
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

async function nearestExisting(path: string): Promise<string> {
  const parent = dirname(path);
  const isDirectory = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isDirectory || parent === path ? path : nearestExisting(parent);
}

const mib = 1024 * 1024;

export function checkFreeSpace({ freeBytes, directory }: StorageProbe): CheckResult {
  const isLarge = freeBytes >= 10 * 1024 * mib;
  const size = isLarge ? `${Math.floor(freeBytes / 1024 / mib)} GiB` : `${Math.floor(freeBytes / mib)} MiB`;
  const failOrWarn = freeBytes < 64 * mib ? fail : warn;
  const check = freeBytes < 1024 * mib ? failOrWarn : pass;
  const hint = 'free some space: without it, deliveries are answered 503';
  return check('receiver.disk', `${size} free in ${directory}`, hint);
}

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
