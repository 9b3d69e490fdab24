import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { cannotStore, type CannotStoreError } from '../inbox.ts';
import type { FileChange } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import { cannotWrite, isDamage, sqliteCode } from './sqlite-errors.ts';

/** What the operator of a receiver has to know about the file, each said once. */
export class StoreWarnings {
  readonly #file: FileIdentity;
  readonly #log: DatabaseLog;
  readonly #options: Pick<StoreOptions, 'location' | 'warn'>;
  #gone: CannotStoreError | undefined;
  #isDamageSaid = false;

  constructor(file: FileIdentity, log: DatabaseLog, options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#file = file;
    this.#log = log;
    this.#options = options;
  }

  /**
   * Throws a `CannotStoreError`: in every call after a file was deleted, replaced or cut, since what is written would be lost;
   * in this call alone where the disk does not tell whether that happened.
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
      return this.#file.change() ?? this.#log.change();
    } catch (error) {
      throw cannotWrite(this.#options.location, error);
    }
  }

  /** Something failed with what the database threw. */
  failed(error: unknown): void {
    if (this.#isDamageSaid || !isDamage(error)) return;
    this.#isDamageSaid = true;
    this.#options.warn({ kind: 'inbox-damaged', inbox: this.#options.location, detail: messageOf(error) });
  }
}

/**
 * The files of an open database as they were when it was opened. The system lets others delete or replace a file that is
 * in use, and what is then written to it is gone with the process.
 */
export class FileIdentity {
  readonly #files: readonly { readonly path: string; readonly identity: string | undefined }[];

  /** `files`: a reader's own is the database alone, since others make and remove its log. */
  constructor(path: string, files: readonly string[] = [path, `${path}-wal`]) {
    this.#files = files.map((file) => ({ path: file, identity: identityOf(file) }));
  }

  /** What happened to them; undefined while they are in place. */
  change(): FileChange | undefined {
    for (const { path, identity } of this.#files) {
      const now = identityOf(path);
      if (now !== identity) return { path, change: now === undefined ? 'gone' : 'replaced' };
    }
    return undefined;
  }
}

/**
 * The log of an open database. Where another program cuts it in place, what was committed since it was last copied into the
 * database is gone, and what is committed from then on lies behind a hole that no later opening reads over; what is left of it
 * is copied over newer pages by then. The database itself empties its log once all of it is copied, or begins it anew, with
 * other numbers in its head (https://sqlite.org/walformat.html). With a `journal_size_limit`, which `leads` does not set, it
 * also cuts off what is behind the new one: that cannot be told from a loss, and is taken for one.
 */
export class DatabaseLog {
  readonly #path: string;
  readonly #isCopied: () => boolean;
  /** Kept, so that a process at its limit of open files can still look at what it wrote. */
  #file: number | undefined;
  #seen: LogState;

  /** `isCopied`: whether the database's own file holds everything that was committed. Throws where that cannot be read. */
  constructor(database: string, isCopied: () => boolean) {
    this.#path = `${database}-wal`;
    this.#isCopied = isCopied;
    this.#seen = this.#state();
  }

  /** Throws where the disk does not tell; the next call looks at the same again. */
  change(): FileChange | undefined {
    const seen = this.#seen;
    for (;;) {
      const state = this.#state();
      if (isSame(state, seen)) return undefined;
      const isSameLog = state.salts !== undefined && state.salts === seen.salts;
      const isShorter = state.size < seen.size;
      // Another program may have begun it anew after its size was read, and before its head was.
      if ((!isSameLog || isShorter) && !isSame(state, this.#state())) continue;
      const isCut =
        state.size === 0 ? !this.#isCopied() : state.salts === undefined || (isSameLog && isShorter);
      // The database's file is written from a log that is not empty: it may have been read half-way.
      if (isCut && state.size === 0 && sizeOf(this.#path) > 0) continue;
      if (isCut) return { path: this.#path, change: 'cut' };
      this.#seen = state;
      return undefined;
    }
  }

  /** May be called again. */
  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  #state(): LogState {
    const size = sizeOf(this.#path);
    if (size === 0) return { size, salts: undefined };
    this.#file ??= openSync(this.#path, 'r');
    const head = Buffer.alloc(24);
    const isWhole = readSync(this.#file, head, 0, head.length, 0) === head.length;
    // It starts with a number that is not 0 (0x377f0682 or 0x377f0683).
    return { size, salts: isWhole && head.readUInt32BE() !== 0 ? head.toString('latin1', 16) : undefined };
  }
}

const isSame = (one: LogState, other: LogState): boolean =>
  one.size === other.size && one.salts === other.salts;

/** `salts`: undefined where the log has no head, as one that was cut and is written on behind a hole. */
interface LogState {
  readonly size: number;
  readonly salts: string | undefined;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

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
export class DiskSpaceCheck {
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
      throw cannotStore(this.#location, { kind: 'store-other-fault', detail: messageOf(error) }, error);
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
