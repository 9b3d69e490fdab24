import { statSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
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
  #noRoom: Error | undefined;

  constructor(options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#options = options;
  }

  failed(error: unknown): void {
    if (!(error instanceof Error)) return;
    if (/^SQLITE_(FULL|IOERR)/.test(sqliteCode(error))) this.#noRoom = error;
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
   * Rejects as long as there is no room for a delivery, once one did not fit or the disk says that it
   * is nearly full. A few bytes always fit somewhere, so that a file of the size that a delivery may have is written beside the
   * database: that finds out about quotas, and about what is kept free for this user, too.
   */
  async checkRoom(): Promise<void> {
    const { location } = this.#options;
    if (location === inMemory || (this.#noRoom === undefined && !(await this.#isNearlyFull()))) return;
    const path = `${location}.room`;
    try {
      await writeFile(path, Buffer.alloc(roomBytes), { mode: 0o600, flush: true });
      this.#noRoom = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        // The code is the database's, so that both are told in the same words.
        throw this.#noRoom ?? Object.assign(new Error('no room', { cause: error }), { code: 'SQLITE_FULL' });
      }
      throw error;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Some network drives cannot be asked: only a delivery that does not fit tells. */
  async #isNearlyFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#options.location);
      return bavail * bsize < roomBytes;
    } catch {
      return false;
    }
  }
}

/** A larger file is not looked at, in bytes: the check reads all of it. */
const mostChecked = 256 * 1024 * 1024;

/** Looks for damaged pages. Resolves to what is damaged, in the database's words; undefined where nothing was found. */
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
