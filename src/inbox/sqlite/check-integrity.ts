import { messageOf } from '../../errors.ts';
import { loadLibsqlAsync, readOnlyUrl, textOf } from './libsql.ts';
import { isNoDatabase } from './sqlite-errors.ts';

/** A check that takes longer stops, in milliseconds: of a large file only a part is looked at. */
const longestMs = 1000;

/**
 * Looks for damage without keeping the event loop waiting. Resolves to what is damaged, in the database's words; undefined
 * where nothing was found.
 */
export async function checkIntegrity(path: string): Promise<string | undefined> {
  const Libsql = await loadLibsqlAsync();
  const database = new Libsql(readOnlyUrl(path), { timeout: 0 });
  const timer = setTimeout(() => database.interrupt(), longestMs);
  try {
    const statement = await database.prepare('PRAGMA quick_check(1)');
    const [row] = await statement.all([]);
    const result = textOf(row?.['quick_check']);
    return result === 'ok' || result === '' ? undefined : result;
  } catch (error) {
    return isNoDatabase(error) ? messageOf(error) : undefined;
  } finally {
    clearTimeout(timer);
    database.close();
  }
}
