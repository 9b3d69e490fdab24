import { statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { cannotStore, type CannotStoreError } from '../inbox.ts';
import type { FileChange } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import { cannotWrite, isDamage, sqliteCode } from './sqlite-errors.ts';

/**
 * Which file the path of an open database leads to. The system lets others delete or replace a file that is in use, and
 * what is then written to it is gone with the process.
 */
export class FileIdentity {
  readonly #path: string;
  readonly #identity: string | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
  }

  /** What happened to the file; undefined while it is in place. */
  change(): FileChange | undefined {
    const now = identityOf(this.#path);
    if (now === this.#identity) return undefined;
    return { path: this.#path, change: now === undefined ? 'gone' : 'replaced' };
  }
}

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Named as the database names it, so that both are told in the same words. */
class DiskFullError extends Error {
  readonly code = 'SQLITE_FULL';
}

/** Whether the file of an open inbox can keep what comes; what is wrong with it is said once. */
export class FileHealth {
  readonly #options: Pick<StoreOptions, 'location' | 'warn'>;
  readonly #file: FileIdentity;
  #gone: CannotStoreError | undefined;
  #isDamageSaid = false;
  /** Why the last write failed for want of room. */
  #noRoom: unknown;

  constructor(options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#options = options;
    this.#file = new FileIdentity(options.location);
  }

  /**
   * Throws a `CannotStoreError`: in every call after the file was deleted or replaced, since what is written would be lost; in
   * this call alone where the disk does not tell whether that happened.
   */
  verifyInPlace(): void {
    if (this.#gone === undefined) {
      const change = this.#change();
      if (change === undefined) return;
      const { location, warn } = this.#options;
      this.#gone = cannotStore(location, { kind: 'store-file-changed', ...change }, undefined);
      warn({ kind: 'inbox-file-lost', ...change });
    }
    throw this.#gone;
  }

  #change(): FileChange | undefined {
    try {
      return this.#file.change();
    } catch (error) {
      throw cannotWrite(this.#options.location, error);
    }
  }

  /** Something failed with what the database threw. */
  failed(error: unknown): void {
    if (/^SQLITE_(FULL|IOERR)/.test(sqliteCode(error))) this.#noRoom = error;
    if (this.#isDamageSaid || !isDamage(error)) return;
    this.#isDamageSaid = true;
    this.#options.warn({ kind: 'inbox-damaged', inbox: this.#options.location, detail: messageOf(error) });
  }

  /**
   * Rejects with a `CannotStoreError` as long as there is no room for a delivery, once one did not fit or the disk says that it
   * is nearly full. A few bytes always fit somewhere, so that a file of the size that a delivery may have is written beside the
   * database: that finds out about quotas, and about what is kept free for this user, too.
   */
  async checkRoom(): Promise<void> {
    if (this.#noRoom === undefined && !(await this.#isNearlyFull())) return;
    const { location } = this.#options;
    const path = `${location}.room`;
    try {
      const file = await open(path, 'w', 0o600);
      try {
        await file.writeFile(Buffer.alloc(roomBytes));
        await file.datasync();
      } finally {
        await file.close();
        await rm(path, { force: true });
      }
      this.#noRoom = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        throw cannotWrite(location, this.#noRoom ?? new DiskFullError('no room', { cause: error }));
      }
      throw cannotStore(location, { kind: 'store-other-fault', detail: messageOf(error) }, error);
    }
  }

  /** Of what cannot be asked, such as some network drives, only a delivery that does not fit tells. */
  async #isNearlyFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#options.location);
      return bavail * bsize < roomBytes;
    } catch {
      return false;
    }
  }
}
