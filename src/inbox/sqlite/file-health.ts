import { statSync } from 'node:fs';
import { realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { saveDamaged } from '../errors.ts';
import { textOf } from '../sql/row.ts';
import { inMemory, roomBytes, type StoreOptions } from '../store-options.ts';
import { loadLibsql, readOnlyUrl } from './libsql.ts';
import { isDamage, sqliteCode } from './sqlite-errors.ts';

/** Remembers failures of the database that show that the file of an inbox is damaged, or that its disk is full. */
export class FileHealth {
  readonly #options: Pick<StoreOptions, 'location' | 'warn'>;
  #hasWarnedOfDamage = false;
  /** The failure after which `checkRoom` has found no room so far. */
  #lastNoRoom: Error | undefined;

  constructor(options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#options = options;
  }

  noteFailure(error: unknown): void {
    if (!(error instanceof Error)) return;
    // SQLite reports a used-up quota as an I/O error. After one with another cause, `checkRoom` finds room, and it is forgotten.
    if (/^SQLITE_(FULL|IOERR)/.test(sqliteCode(error))) this.#lastNoRoom = error;
    if (this.#hasWarnedOfDamage || !isDamage(error)) return;
    this.#hasWarnedOfDamage = true;
    const { location, warn } = this.#options;
    warn({
      kind: 'inbox-damaged',
      message: `the inbox ${location} is damaged (${error.message}): leads in the damaged part are answered 503`,
      hint: `stop this receiver; then ${saveDamaged(location)}`,
    });
  }

  /**
   * Once a delivery did not fit, or the disk is nearly full, this rejects until the largest delivery would fit. It writes a file of that
   * size beside the database and removes it: the number of free bytes tells nothing of quotas or of room that is kept for root.
   */
  async checkRoom(): Promise<void> {
    const { location } = this.#options;
    if (location === inMemory || (this.#lastNoRoom === undefined && !(await this.#isNearlyFull()))) return;
    // A link to the file may be on another disk than the file.
    const path = `${await realpath(location)}.room`;
    try {
      await writeFile(path, Buffer.alloc(roomBytes), { mode: 0o600, flush: true });
      this.#lastNoRoom = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        // With the code of SQLite, people get the same message for it.
        throw (
          this.#lastNoRoom ?? Object.assign(new Error('no room', { cause: error }), { code: 'SQLITE_FULL' })
        );
      }
      throw error;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Some network drives do not tell their room: there, only a delivery that does not fit shows that it is used up. */
  async #isNearlyFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#options.location);
      return bavail * bsize < roomBytes;
    } catch {
      return false;
    }
  }
}

/** In bytes. The check reads the whole file, which would take too long for a larger one. */
const maxChecked = 256 * 1024 * 1024;

/**
 * Looks for damaged pages. Resolves to the database's message; undefined where nothing was found, and for a file that is too large,
 * locked or cannot be read.
 */
export async function checkIntegrity(path: string): Promise<string | undefined> {
  if (statSync(path).size > maxChecked) return undefined;
  const Libsql = await loadLibsql();
  const database = new Libsql(readOnlyUrl(path), { timeout: 0 });
  try {
    const [row] = database.prepare('PRAGMA quick_check(1)').all([]);
    const result = textOf(row?.['quick_check']);
    return result === 'ok' ? undefined : result;
  } catch (error) {
    return isDamage(error) ? messageOf(error) : undefined;
  } finally {
    database.close();
  }
}
