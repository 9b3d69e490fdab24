import { randomBytes } from 'node:crypto';
import { sha256 } from '../../json/bytes.ts';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/output-error.ts';
import { syncDirectory } from '../../files/replace.ts';
import type { InboxProblem } from '../problems.ts';
import {
  type Database,
  leadBytesAt,
  loadLibsql,
  type Row,
  type Statement,
  textOf,
  type Value,
} from './libsql.ts';
import { migrate } from './migrations.ts';
import { openReadOnly } from './open-database.ts';
import { cannotRead, cannotWrite, isUnreadable, sqliteCode } from './sqlite-errors.ts';

/** What was saved of a damaged inbox. */
interface RecoveredInbox {
  readonly deliveries: number;
  readonly leads: number;
  /** Numbers that could not be read, where a delivery may have been. */
  readonly unreadable: number;
  /** What may be missing besides. */
  readonly lost: ReadonlySet<LostPart>;
}

/**
 * `last`: deliveries from the first damage on, of which nothing tells how many they were; `ids`: of leads that are in no
 * delivery any more; `work`: what is outstanding for targets; `counts`: of deliveries that were
 * removed, before now.
 */
export type LostPart = 'last' | 'ids' | 'work' | 'nonces' | 'results' | 'counts';

/** By table, the columns of its key, and what its rows are. */
const tables: Readonly<Record<string, readonly [part: LostPart, key: readonly string[]]>> = {
  work: ['work', ['lead', 'target']],
  nonces: ['nonces', ['nonce']],
  targets: ['work', ['name']],
  results: ['results', ['seq', 'number']],
  dropped_repeats: ['counts', ['lead']],
  erased: ['ids', ['digest']],
  removed: ['counts', ['minute', 'verdict', 'reason', 'source', 'attempt']],
};

/** Tables of one row, which a new inbox has as well. The inbox's key tells whose work a row is, and which id was erased. */
const oneRow: Readonly<Record<string, readonly LostPart[]>> = {
  counter: ['last'],
  target_key: ['ids', 'work'],
  nonce_clock: ['nonces'],
  counted_since: ['counts'],
};

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
        recovered = copyAll({ database: source, path: from }, target, now);
        target.exec('COMMIT');
      } catch (error) {
        throw sqliteCode(error).startsWith('SQLITE_') ? cannotWrite(to, error) : error;
      } finally {
        target.close();
      }
      await linkNew(temporary, to);
      await syncDirectory(dirname(to));
      return recovered;
    });
  } finally {
    source.close();
    await rm(temporary, { force: true });
  }
}

function copyAll(from: Source, to: Database, now: number): RecoveredInbox {
  const copier = new RowCopier(to);
  const lost = new Set<LostPart>();
  // What is read is of one moment: a receiver may go on writing.
  from.database.exec('BEGIN');
  for (const [table, parts] of Object.entries(oneRow)) {
    if (!copyOneRow(table, from, to, copier)) for (const part of parts) lost.add(part);
  }
  const last = lastNumber(from);
  const useDeliveries: Use = (rows) => copier.copy('deliveries', rows);
  let unread = 0;
  if (lost.has('last') && last === undefined) readFromBothEnds(from, 'deliveries', ['seq'], useDeliveries);
  else {
    lost.delete('last');
    const counter = Number(to.prepare('SELECT seq FROM counter').all([])[0]?.['seq'] ?? 0);
    unread = readDeliveries(from, Math.max(counter, last ?? 0), useDeliveries);
  }
  // Before the ids: a digest may have to be made of a lead in it.
  const bodiesWhole = copyTable('shared_content', ['seq'], from, to, copier);
  const leadsWhole = readFromBothEnds(from, 'leads', ['id'], (rows) => copier.copy('leads', rows));
  if (!leadsWhole) {
    lost.add('ids');
    completeLeads(from, to, copier);
  }
  for (const [table, [part, key]] of Object.entries(tables)) {
    if (!copyTable(table, key, from, to, copier)) lost.add(part);
  }
  // One without its body would be exported and handed on as nothing.
  const { changes } = bodiesWhole ? { changes: 0 } : to.prepare(dropBodiless).run([]);
  const unreadable = unread + changes;
  // Nothing of such a lead can be handed on, and as many of them as a receiver looks at in a round would hold all others.
  to.exec('DELETE FROM work WHERE lead NOT IN (SELECT id FROM leads)');
  if ((unreadable > 0 || lost.has('last') || lost.has('counts')) && hasTable(to, 'counted_since')) {
    to.prepare('UPDATE counted_since SET at = ?').run([now]);
  }
  // A number that a lost delivery had must not be given again.
  for (const table of ['deliveries', 'leads']) {
    to.exec(`UPDATE counter SET seq = MAX(seq, COALESCE((SELECT MAX(seq) FROM ${table}), 0))`);
  }
  return { deliveries: count(to, 'deliveries'), leads: count(to, 'leads'), unreadable, lost };
}

const dropBodiless =
  'DELETE FROM deliveries WHERE first_seq IS NOT NULL AND first_seq NOT IN (SELECT seq FROM shared_content)';

/** Returns whether all of it could be read. */
function copyTable(
  table: string,
  columns: readonly string[],
  from: Source,
  to: Database,
  copier: RowCopier,
): boolean {
  return !hasTable(to, table) || readFromBothEnds(from, table, columns, (rows) => copier.copy(table, rows));
}

/** The same of one row; without it a new one stays. */
function copyOneRow(table: string, from: Source, to: Database, copier: RowCopier): boolean {
  if (!hasTable(to, table)) return true;
  const rows = rowsOrDamage(from, `SELECT * FROM ${table}`, []);
  if (rows === 'damaged' || rows.length === 0) return false;
  to.exec(`DELETE FROM ${table}`);
  copier.copy(table, rows);
  return true;
}

/** Undefined where it cannot be read. */
function lastNumber(from: Source): number | undefined {
  const rows = rowsOrDamage(from, 'SELECT MAX(seq) AS seq FROM deliveries', []);
  return rows === 'damaged' ? undefined : Number(rows[0]?.['seq'] ?? 0);
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
    throw new UsageError({ kind: 'recovered-file-exists', path: to } satisfies InboxProblem);
  }
}

/** Rows read at once. */
const pageRows = 200;

type Use = (rows: readonly Row[]) => void;

/** What is recovered; `path` is that of its file. */
interface Source {
  readonly database: Database;
  readonly path: string;
}

/** The rows, or `damaged`. Each statement is made anew, since one that has thrown cannot be used again. */
function rowsOrDamage({ database, path }: Source, sql: string, values: readonly Value[]): Row[] | 'damaged' {
  try {
    return database.prepare(sql).all(values);
  } catch (error) {
    if (!isUnreadable(error)) throw cannotRead(path, error);
    return 'damaged';
  }
}

/**
 * Gives the rows of a table that can be read from its first key on, and then those from its last key back, some of them
 * twice. Returns whether that was all of them; in between, what is damaged and what lies between two damaged parts is
 * left out.
 */
function readFromBothEnds(source: Source, table: string, keys: readonly string[], use: Use): boolean {
  return readFrom('ASC', source, table, keys, use) || (readFrom('DESC', source, table, keys, use), false);
}

function readFrom(
  order: 'ASC' | 'DESC',
  source: Source,
  table: string,
  keys: readonly string[],
  use: Use,
): boolean {
  const tuple = `(${keys.join(', ')})`;
  const behind = `${tuple} ${order === 'ASC' ? '>' : '<'} (${keys.map(() => '?').join(', ')})`;
  const ordered = keys.map((key) => `${key} ${order}`).join(', ');
  let last: readonly Value[] | undefined;
  for (let limit = pageRows; ;) {
    const where = last === undefined ? '' : `WHERE ${behind}`;
    const sql = `SELECT * FROM ${table} ${where} ORDER BY ${ordered} LIMIT ${limit}`;
    const rows = rowsOrDamage(source, sql, last ?? []);
    if (rows === 'damaged') {
      if (limit === 1) return false;
      limit = 1;
      continue;
    }
    use(rows);
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return true;
    last = keys.map((key) => end[key] ?? null);
  }
}

/** Writes rows as they were read into a database with the same tables; one that is there already stays. */
class RowCopier {
  readonly #to: Database;
  readonly #inserts = new Map<string, Statement>();

  constructor(to: Database) {
    this.#to = to;
  }

  copy(table: string, rows: readonly Row[]): void {
    for (const row of rows) {
      const values = Object.entries(row)
        .filter(([name]) => name !== '_metadata')
        .map(([, value]) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
      this.#insertInto(table, values).run(values);
    }
  }

  #insertInto(table: string, values: readonly Value[]): Statement {
    let insert = this.#inserts.get(table);
    if (insert === undefined) {
      const places = values.map(() => '?').join(', ');
      insert = this.#to.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${places})`);
      this.#inserts.set(table, insert);
    }
    return insert;
  }
}

/** Rows read at once. */
const deliveryRows = 200;

/**
 * Gives every delivery that can be read: by pages, and one number at a time through a damaged part. Returns how many
 * numbers could not be read, where a delivery may have been.
 */
function readDeliveries(source: Source, lastSeq: number, use: (rows: readonly Row[]) => void): number {
  let unreadable = 0;
  for (let seq = 0; seq < lastSeq;) {
    const rows = rowsOrDamage(
      source,
      `SELECT * FROM deliveries WHERE seq > ? ORDER BY seq LIMIT ${deliveryRows}`,
      [seq],
    );
    if (rows !== 'damaged') {
      use(rows);
      if (rows.length < deliveryRows) break;
      seq = Number(rows.at(-1)?.['seq']);
      continue;
    }
    // Up to the first delivery that can be read behind the damage.
    for (let isBehind = false, wasDamaged = false; !isBehind && seq < lastSeq;) {
      seq += 1;
      const one = rowsOrDamage(source, 'SELECT * FROM deliveries WHERE seq = ?', [seq]);
      if (one === 'damaged') unreadable += 1;
      else use(one);
      isBehind = wasDamaged && one !== 'damaged' && one.length > 0;
      wasDamaged ||= one === 'damaged';
    }
  }
  return unreadable;
}

/** Gives each delivered id whose row was not found from the ends a row: the old one, or what its deliveries tell. */
function completeLeads(from: Source, to: Database, copier: RowCopier): void {
  const missing = to
    .prepare(
      `SELECT lead, MIN(seq) AS seq, MIN(received_at) AS first_at, MAX(attempt) AS attempts,
       MAX(verdict <> 'pending') AS accepted FROM deliveries
       WHERE verdict <> 'rejected' AND lead NOT IN (SELECT id FROM leads) GROUP BY lead`,
    )
    .all([]);
  for (const row of missing) {
    const id = textOf(row['lead']);
    const old = rowsOrDamage(from, 'SELECT * FROM leads WHERE id = ?', [id]);
    if (old !== 'damaged' && old.length > 0) {
      copier.copy('leads', old);
      continue;
    }
    const digest = sha256(leadBytesAt(to, Number(row['seq'])));
    const state = row['accepted'] === 1 ? 'accepted' : 'pending';
    to.prepare('INSERT INTO leads VALUES (?, ?, ?, ?, ?, ?)').run([
      id,
      Number(row['seq']),
      state,
      Number(row['first_at']),
      Number(row['attempts']),
      digest,
    ]);
  }
}
