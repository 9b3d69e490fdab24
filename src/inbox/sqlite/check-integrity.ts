import { statSync } from 'node:fs';
import { messageOf } from '../../errors.ts';
import { textOf } from '../sql/row.ts';
import { loadLibsql, readOnlyUrl } from './libsql.ts';
import { isDamage } from './sqlite-errors.ts';

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
