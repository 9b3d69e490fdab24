import { open, rm, statfs } from 'node:fs/promises';
import { cannotStore } from '../../cannot-store-error.ts';
import { messageOf } from '../../../errors.ts';
import { cannotWrite, sqliteCode } from '../sqlite-errors.ts';

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Named as the database names it, so that both are told in the same words. */
class DiskFullError extends Error {
  readonly code = 'SQLITE_FULL';
}

/**
 * Whether there is room for a delivery, once one did not fit or the disk says that it is nearly full. A few bytes always
 * fit somewhere, so that a file of the size that a delivery may have is written beside the database: that finds out about
 * quotas, and about what is kept free for this user, too.
 */
export class RoomCheck {
  readonly #location: string;
  #cause: unknown;

  constructor(location: string) {
    this.#location = location;
  }

  /** A write failed with what the database threw. */
  failed(error: unknown): void {
    if (/^SQLITE_(FULL|IOERR)/.test(sqliteCode(error))) this.#cause = error;
  }

  /** Rejects with a `CannotStoreError` as long as there is no room. */
  async check(): Promise<void> {
    if (this.#cause === undefined && !(await this.#isNearlyFull())) return;
    const path = `${this.#location}.room`;
    try {
      const file = await open(path, 'w', 0o600);
      try {
        await file.writeFile(Buffer.alloc(roomBytes));
        await file.datasync();
      } finally {
        await file.close();
        await rm(path, { force: true });
      }
      this.#cause = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        throw cannotWrite(this.#location, this.#cause ?? new DiskFullError('no room', { cause: error }));
      }
      throw cannotStore(this.#location, { reason: messageOf(error) }, error);
    }
  }

  /** Of what cannot be asked, such as some network drives, only a delivery that does not fit tells. */
  async #isNearlyFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#location);
      return bavail * bsize < roomBytes;
    } catch {
      return false;
    }
  }
}
