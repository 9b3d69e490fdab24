import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { UsageError } from '../../../errors.ts';
import { withOutputErrors } from '../../../files/output-error.ts';
import { type Database, loadLibsql } from '../libsql.ts';
import { migrate } from '../schema/migrations.ts';
import { openReadOnly } from '../schema/open-database.ts';
import { readFromBothEnds, rowsOrDamage } from './readable-rows.ts';
import { completeLeads } from './rebuild-leads.ts';
import { readDeliveries } from './recover-deliveries.ts';
import { RowCopier } from './row-copier.ts';

/** What was saved of a damaged inbox. */
export interface RecoveredInbox {
  readonly deliveries: number;
  readonly leads: number;
  /** Numbers that could not be read, where a delivery may have been. */
  readonly unreadable: number;
  /** Whether every id that was ever taken was found; otherwise those that are in no delivery any more may be missing. */
  readonly idsComplete: boolean;
}

/** By table, the columns of its key. */
const keys: Readonly<Record<string, readonly string[]>> = {
  work: ['lead', 'target'],
  nonces: ['nonce'],
  targets: ['name'],
  results: ['seq', 'number'],
  dropped_repeats: ['lead'],
  erased: ['digest'],
};

/** Tables of one row, which a new inbox has as well. */
const oneRow = ['counter', 'target_key', 'nonce_clock'];

/**
 * Copies what can be read of the inbox `from` into a new one, which appears when it is complete. Throws a `UsageError`
 * when `to` exists, a `ConfigError` when `from` cannot be opened at all or is empty, an `OutputError` when `to` cannot be written.
 */
export async function recoverInbox(from: string, to: string, now: number): Promise<RecoveredInbox> {
  const { database: source, version } = await openReadOnly(from);
  const temporary = `${to}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    return await withOutputErrors(to, async () => {
      await (await open(temporary, 'wx', 0o600)).close();
      const Libsql = await loadLibsql();
      const target = new Libsql(temporary, { timeout: 0 });
      let recovered: RecoveredInbox;
      try {
        migrate(target, temporary, now, version);
        target.exec('BEGIN IMMEDIATE');
        recovered = copyAll(source, target);
        target.exec('COMMIT');
      } finally {
        target.close();
      }
      await linkNew(temporary, to);
      return recovered;
    });
  } finally {
    source.close();
    await rm(temporary, { force: true });
  }
}

function copyAll(from: Database, to: Database): RecoveredInbox {
  const copier = new RowCopier(to);
  const oneRowsWhole = oneRow.map((table) => copyOneRow(table, from, to, copier));
  const counter = Number(to.prepare('SELECT seq FROM counter').all([])[0]?.['seq'] ?? 0);
  const unreadable = readDeliveries(from, Math.max(counter, lastNumber(from)), (rows) =>
    copier.copy('deliveries', rows),
  );
  // Before the ids: a digest may have to be made of a lead in it.
  copyTable('shared_content', ['seq'], from, to, copier);
  const leadsWhole = readFromBothEnds(from, 'leads', ['id'], (rows) => copier.copy('leads', rows));
  if (!leadsWhole) completeLeads(from, to, copier);
  const whole = Object.entries(keys).filter(([table, columns]) =>
    copyTable(table, columns, from, to, copier),
  );
  // The ids of erased leads are known by their digests, which nobody can compare without the inbox's key.
  const erasedWhole =
    whole.some(([table]) => table === 'erased') && oneRowsWhole[oneRow.indexOf('target_key')];
  const idsComplete = leadsWhole && erasedWhole === true;
  to.exec('UPDATE counter SET seq = MAX(seq, COALESCE((SELECT MAX(seq) FROM deliveries), 0))');
  return { deliveries: count(to, 'deliveries'), leads: count(to, 'leads'), unreadable, idsComplete };
}

/** Returns whether all of it could be read. */
function copyTable(
  table: string,
  columns: readonly string[],
  from: Database,
  to: Database,
  copier: RowCopier,
): boolean {
  return !hasTable(to, table) || readFromBothEnds(from, table, columns, (rows) => copier.copy(table, rows));
}

/** The same of one row; without it a new one stays. */
function copyOneRow(table: string, from: Database, to: Database, copier: RowCopier): boolean {
  if (!hasTable(to, table)) return true;
  const rows = rowsOrDamage(from, `SELECT * FROM ${table}`, []);
  if (rows === 'damaged' || rows.length === 0) return false;
  to.exec(`DELETE FROM ${table}`);
  copier.copy(table, rows);
  return true;
}

function lastNumber(from: Database): number {
  const rows = rowsOrDamage(from, 'SELECT MAX(seq) AS seq FROM deliveries', []);
  return rows === 'damaged' ? 0 : Number(rows[0]?.['seq'] ?? 0);
}

const hasTable = (database: Database, table: string): boolean =>
  database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').all([table]).length > 0;

const count = (database: Database, table: string): number =>
  Number(database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).all([])[0]?.['n'] ?? 0);

/** Unlike a rename, a link never replaces what is there. */
async function linkNew(temporary: string, to: string): Promise<void> {
  try {
    await link(temporary, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`${to} exists, and is not overwritten`, { hint: 'name a new file with -o' });
  }
}
