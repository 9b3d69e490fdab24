import { randomBytes } from 'node:crypto';
import { access, constants, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LeadsError, messageOf } from '../errors.ts';
import { type InboxLocation, isInboxThere, openInboxReader } from '../inbox/open-inbox.ts';
import { checkIntegrity } from '../inbox/sqlite/file-health.ts';
import { loadLibsql } from '../inbox/sqlite/libsql.ts';
import type { Clock } from '../time/clock.ts';
import { formatDuration } from '../time/time-text.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

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
  if (location === ':memory:') return of(check.warn('in memory: it is lost when listen ends'));
  const { directory, problem: code, volatile: on } = storage;
  if (code === 'ENOSPC') return of(check.fail({ kind: 'inbox-place-full', directory }));
  if (code !== undefined) return of(check.fail({ kind: 'inbox-place-unwritable', directory, code }));
  const kept = (inOrder: string): CheckResult =>
    on === undefined ? check.pass(inOrder) : check.warn({ kind: 'inbox-place-volatile', directory, on });
  try {
    await loadLibsql();
    if (!isInboxThere(location)) return of(kept(`${location} is made by the first listen`));
    await access(location, constants.R_OK | constants.W_OK);
    const newest = await readNewest(location, clock);
    const damage = await (await checkIntegrity(location)).found;
    if (damage !== undefined) {
      return of(check.fail({ kind: 'inbox-file-damaged', inbox: location, damage }), newest);
    }
    return of(kept(`${location} opens, and syncs to disk`), newest);
  } catch (error) {
    if (error instanceof LeadsError) return of(check.fail(error));
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return of(check.fail(`${location} cannot be read and written (${code})`, 'it must belong to you'));
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
  /** A kind of file system on which an acknowledged lead may be lost. */
  readonly volatile: string | undefined;
  /** When the file was written by the clock of the file system, ms; undefined where none was written. */
  readonly writtenAt: number | undefined;
  readonly problem: string | undefined;
}

/** By the magic numbers of Linux (statfs(2)). */
const volatileKinds: Readonly<Record<number, string>> = {
  0x01021994: 'a tmpfs, which is empty after a restart of this machine',
  0x858458f6: 'a ramfs, which is empty after a restart of this machine',
  0x6969: 'NFS, where locks and syncs of a database are not reliable',
  0xff534d42: 'an SMB share, where locks and syncs of a database are not reliable',
  0xfe534d42: 'an SMB share, where locks and syncs of a database are not reliable',
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

export function checkFreeSpace({ freeBytes, directory }: StorageProbe): CheckResult {
  const check = checkNamed('receiver.disk');
  const seen = `${sizeOf(freeBytes)} free in ${directory}`;
  const hint = 'free some space: without it, deliveries are answered 503';
  if (freeBytes < tooLittle) return check.fail(seen, hint);
  return freeBytes < little ? check.warn(seen, hint) : check.pass(seen);
}

/** Another clock that was read now. */
export interface OtherClock {
  /** For messages, such as `the file system's clock`. */
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
  const hint = 'set it by NTP, such as: timedatectl set-ntp true';
  if (ahead > 60_000) {
    return check.fail(`the newest delivery came ${formatDuration(ahead)} later than the clock says`, hint);
  }
  const apart = Math.abs((other.at ?? now) - now);
  if (apart > 60_000) return check.warn(`${other.name} differs by ${formatDuration(apart)}`, hint);
  return check.pass(new Date(now).toISOString().replace(/\.\d+/, ''));
}

const sizeOf = (bytes: number): string =>
  bytes < 10 * 1024 * mib ? `${Math.floor(bytes / mib)} MiB` : `${Math.floor(bytes / (1024 * mib))} GiB`;
