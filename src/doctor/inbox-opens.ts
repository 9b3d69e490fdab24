import { randomBytes } from 'node:crypto';
import { access, constants, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LeadsError, messageOf } from '../errors.ts';
import { type InboxLocation, isInboxThere, openInboxReader } from '../inbox/open-inbox.ts';
import { checkIntegrity } from '../inbox/sqlite/check-integrity.ts';
import { loadLibsql } from '../inbox/sqlite/libsql.ts';
import type { Clock } from '../time/clock.ts';
import { checkNamed, type CheckResult } from './check-result.ts';
import type { DoctorProblem, VolatileStorage } from './problems.ts';

export interface OpenedInbox {
  readonly check: CheckResult;
  /** When the newest delivery came, ms. */
  readonly newestDelivery: number | undefined;
}

/** Whether the inbox opens, and keeps what it is given. An inbox that is not there yet is not made. */
export async function checkInbox(
  location: string,
  storage: StorageProbe,
  clock: Clock,
): Promise<OpenedInbox> {
  const check = checkNamed('receiver.inbox');
  const of = (result: CheckResult, newestDelivery?: number): OpenedInbox => ({
    check: result,
    newestDelivery,
  });
  if (location === ':memory:') return of(check.warn({ kind: 'inbox-in-memory' }));
  const { directory, problem: code, volatile: on } = storage;
  if (code === 'ENOSPC') return of(check.fail({ kind: 'inbox-place-full', directory }));
  if (code !== undefined) return of(check.fail({ kind: 'inbox-place-unwritable', directory, code }));
  const kept = (inOrder: DoctorProblem): CheckResult =>
    on === undefined ? check.pass(inOrder) : check.warn({ kind: 'inbox-place-volatile', directory, on });
  try {
    await loadLibsql();
    if (!isInboxThere(location)) return of(kept({ kind: 'inbox-unmade', inbox: location }));
    await access(location, constants.R_OK | constants.W_OK);
    const newest = await readNewest(location, clock);
    const damage = await checkIntegrity(location);
    if (damage !== undefined) {
      return of(check.fail({ kind: 'inbox-file-damaged', inbox: location, damage }), newest);
    }
    return of(kept({ kind: 'inbox-opens', inbox: location }), newest);
  } catch (error) {
    if (error instanceof LeadsError) return of(check.fail(error));
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return of(check.fail({ kind: 'inbox-file-unreadable', inbox: location, code }));
  }
}

/** When the newest delivery came, ms since the epoch; undefined: there is none. */
export async function readNewest(location: InboxLocation, clock: Clock): Promise<number | undefined> {
  const reader = await openInboxReader({ location, clock });
  try {
    for await (const { receivedAt } of reader.list({})) return receivedAt;
    return undefined;
  } finally {
    await reader.close();
  }
}

/** What a small file shows that is written and synced where the inbox is, and removed again. */
interface StorageProbe {
  /** The directory of the inbox, or the nearest one above it that exists. */
  readonly directory: string;
  readonly isMade: boolean;
  readonly freeBytes: number;
  readonly volatile: VolatileStorage | undefined;
  /** When the file was written by the clock of the file system, ms; undefined where none was written. */
  readonly writtenAt: number | undefined;
  readonly problem: string | undefined;
}

/** By the magic numbers of Linux (statfs(2)). */
const volatileKinds: Readonly<Record<number, VolatileStorage>> = {
  ...{ 0x01021994: 'tmpfs', 0x858458f6: 'ramfs', 0x6969: 'NFS', 0xff534d42: 'SMB', 0xfe534d42: 'SMB' },
};

const mib = 1024 * 1024;
const tooLittle = 64 * mib;
const little = 1024 * mib;

/** `pid` keeps the files of two runs apart. */
export async function probeStorage(inbox: string, pid: number): Promise<StorageProbe> {
  const wanted = dirname(inbox);
  const directory = await nearestExisting(wanted);
  const isMade = directory === wanted;
  const { bavail, bsize, type } = await statfs(directory);
  const about = { directory, isMade, freeBytes: bavail * bsize, volatile: volatileKinds[type] };
  try {
    if (isMade) return { ...about, writtenAt: await writeAndSync(directory, pid), problem: undefined };
    await access(directory, constants.W_OK | constants.X_OK);
    return { ...about, writtenAt: undefined, problem: undefined };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ...about, writtenAt: undefined, problem: code ?? messageOf(error) };
  }
}

async function writeAndSync(directory: string, pid: number): Promise<number> {
  // Others may write there too: a link that they made, to a file of ours, is not followed.
  const path = join(directory, `.leads-doctor-${pid}-${randomBytes(6).toString('hex')}`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.write('leads doctor\n');
    await file.sync();
    return (await file.stat()).mtimeMs;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

async function nearestExisting(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch {
    // Looked for above it.
  }
  const above = dirname(path);
  return above === path ? path : nearestExisting(above);
}

export function checkFreeSpace({ freeBytes: bytes, directory }: StorageProbe): CheckResult {
  const result = bytes < tooLittle ? 'fail' : bytes < little ? 'warn' : 'pass';
  return checkNamed('receiver.disk')[result]({ kind: 'disk-space', directory, bytes });
}

/** Another clock that was read now. */
export interface OtherClock {
  /** Whose it is, for messages. */
  readonly name: string;
  /** Milliseconds since the epoch; undefined: it could not be read. */
  readonly at: number | undefined;
}

/** The clock of this machine against another one, such as that of a file just written, and against the newest delivery. */
export function checkOwnClock(
  now: number,
  other: OtherClock,
  newestDelivery: number | undefined,
): CheckResult {
  const check = checkNamed('machine.clock');
  const ahead = (newestDelivery ?? now) - now;
  if (ahead > 60_000) return check.fail({ kind: 'clock-behind-delivery', ms: ahead });
  const ms = Math.abs((other.at ?? now) - now);
  if (ms > 60_000) return check.warn({ kind: 'clocks-apart', other: other.name, ms });
  return check.pass({ kind: 'clock-shows', now });
}
