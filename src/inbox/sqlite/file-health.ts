import { statSync } from 'node:fs';
import { realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { saveDamaged } from '../errors.ts';
import { textOf } from '../sql/row.ts';
import { inMemory, roomBytes, type StoreOptions } from '../store-options.ts';
import { loadLibsql, readOnlyUrl } from './libsql.ts';
import { isDamage, sqliteCode } from './sqlite-errors.ts';

/** Notices that the file of an inbox is damaged, or that its disk is full, by the failures of the database. */
export class FileHealth {
  readonly #options: Pick<StoreOptions, 'location' | 'warn'>;
  #isDamageSaid = false;
  #lastNoRoom: Error | undefined;

  constructor(options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#options = options;
  }

  noteFailure(error: unknown): void {
    if (!(error instanceof Error)) return;
    // A quota that is used up is an I/O error to SQLite. After any other one, `checkRoom` finds room and forgets it.
    if (/^SQLITE_(FULL|IOERR)/.test(sqliteCode(error))) this.#lastNoRoom = error;
    if (this.#isDamageSaid || !isDamage(error)) return;
    this.#isDamageSaid = true;
    const { location, warn } = this.#options;
    warn({
      kind: 'inbox-damaged',
      message: `the inbox ${location} is damaged (${error.message}): leads in the damaged part are answered 503`,
      hint: `stop this receiver; then ${saveDamaged(location)}`,
    });
  }

  /**
   * Rejects as long as a delivery does not fit, once one did not or the disk is nearly full. The test is a file as large as
   * the largest delivery, written beside the database and removed: free bytes alone say nothing of quotas or of space that
   * is kept for root, and a few bytes would always fit.
   */
  async checkRoom(): Promise<void> {
    const { location } = this.#options;
    if (location === inMemory || (this.#lastNoRoom === undefined && !(await this.#isNearlyFull()))) return;
    // The file may be on another disk than a link to it.
    const path = `${await realpath(location)}.room`;
    try {
      await writeFile(path, Buffer.alloc(roomBytes), { mode: 0o600, flush: true });
      this.#lastNoRoom = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        // With the database's code, both failures have one message.
        throw (
          this.#lastNoRoom ?? Object.assign(new Error('no room', { cause: error }), { code: 'SQLITE_FULL' })
        );
      }
      throw error;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Some network drives cannot be asked: there, only a delivery that does not fit shows it. */
  async #isNearlyFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#options.location);
      return bavail * bsize < roomBytes;
    } catch {
      return false;
    }
  }
}

/** In bytes. The check reads the whole file, so a larger one is not checked. */
const mostChecked = 256 * 1024 * 1024;

/**
 * Looks for damaged pages. Resolves to the database's message; undefined where nothing was found, and for a file that is too large,
 * locked or cannot be read.
 */
export async function checkIntegrity(path: string): Promise<string | undefined> {
  if (statSync(path).size > mostChecked) return undefined;
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
