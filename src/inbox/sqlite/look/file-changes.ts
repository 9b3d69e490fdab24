import { DataError } from '../../../errors.ts';
import type { InboxExtent } from '../../search/inbox-changes.ts';
import { textOf } from '../column.ts';
import { FileIdentity } from '../file/file-identity.ts';
import type { Database, Statement } from '../libsql.ts';
import type { ReadDatabase } from '../reader.ts';

/** Answers what `InboxChanges` asks, of one file; a `DataError` after it was deleted, moved or replaced. */
export class FileChanges {
  readonly #database: Database;
  readonly #written: Statement;
  readonly #extent: Statement;
  readonly #marks: Statement;
  readonly #location: string;
  readonly #file: FileIdentity;

  constructor({ database, version }: Pick<ReadDatabase, 'database' | 'version'>, location: string) {
    this.#database = database;
    this.#location = location;
    this.#file = new FileIdentity(location, [location]);
    this.#written = database.prepare('SELECT total_changes() AS own');
    this.#extent = database.prepare(
      `SELECT (SELECT seq FROM counter) AS newest, (SELECT MIN(seq) FROM deliveries) AS oldest,
       ${version > 3 ? '(SELECT COUNT(*) FROM erased)' : '0'} AS erased`,
    );
    const results = version > 1 ? '(SELECT MAX(number) FROM results WHERE results.seq = d.seq)' : '0';
    this.#marks = database.prepare(
      `SELECT seq, verdict, ${results} AS results FROM deliveries AS d
       WHERE seq IN (SELECT value FROM json_each(?))`,
    );
  }

  /** The number of what other connections have committed, and of what this one has written. */
  changeMark(): string {
    this.#verifyInPlace();
    const [others] = this.#database.prepare('PRAGMA data_version').all([]);
    const [own] = this.#written.all([]);
    return `${Number(others?.['data_version'])} ${Number(own?.['own'])}`;
  }

  extent(): InboxExtent {
    this.#verifyInPlace();
    const [row] = this.#extent.all([]);
    return {
      newestSeq: Number(row?.['newest'] ?? 0),
      oldestSeq: Number(row?.['oldest'] ?? 0),
      erased: Number(row?.['erased'] ?? 0),
    };
  }

  outcomeMarks(seqs: readonly number[]): ReadonlyMap<number, string> {
    const rows = this.#marks.all([JSON.stringify(seqs)]);
    return new Map(
      rows.map((row) => [Number(row['seq']), `${textOf(row['verdict'])} ${Number(row['results'] ?? 0)}`]),
    );
  }

  /** A file that is gone can still be read by those who have it open, and never changes again. */
  #verifyInPlace(): void {
    const change = this.#file.change();
    if (change === undefined) return;
    throw new DataError(`cannot read the inbox ${this.#location}: ${change} while in use`, {
      hint: 'start leads again to read what is there now',
    });
  }
}
