import { textOf } from './column.ts';
import { loadLibsqlAsync, readOnlyUrl } from './libsql.ts';
import { sqliteCode } from './sqlite-errors.ts';

/** A check that takes longer stops, in milliseconds: of a large file only a part is looked at. */
const longestMs = 1000;

/** A check that goes on in a thread of its own. */
export interface IntegrityCheck {
  /** What is damaged, in the database's words; undefined when nothing was found. Never rejects. */
  readonly found: Promise<string | undefined>;
  stop(): void;
}

/** Looks for damage without keeping the event loop waiting. */
export async function checkIntegrity(path: string): Promise<IntegrityCheck> {
  const Libsql = await loadLibsqlAsync();
  const database = new Libsql(readOnlyUrl(path), { timeout: 0 });
  let isOver = false;
  const stop = (): void => {
    if (!isOver) database.interrupt();
  };
  const timer = setTimeout(stop, longestMs);
  const check = async (): Promise<string | undefined> => {
    try {
      const statement = await database.prepare('PRAGMA quick_check(1)');
      const [row] = await statement.all([]);
      const result = textOf(row?.['quick_check']);
      return result === 'ok' || result === '' ? undefined : result;
    } catch (error) {
      return /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error)) ? (error as Error).message : undefined;
    } finally {
      isOver = true;
      clearTimeout(timer);
      database.close();
    }
  };
  return { found: check(), stop };
}
