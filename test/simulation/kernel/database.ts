import { copyFileSync, existsSync, rmSync } from 'node:fs';
import type { Disk } from './disk.ts';
import { diskPath } from './disk.ts';
import { nodeRequire, type SimProcess } from './process.ts';

interface RealStatement {
  run(values: unknown): unknown;
  get(values: unknown): unknown;
  all(values: unknown): unknown[];
  raw?(): RealStatement;
}

interface RealDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): RealStatement;
  close(): void;
}

const Libsql = nodeRequire('libsql') as new (path: string, options: { timeout: number }) => RealDatabase;

/** What happens to a transaction that is being committed. */
export type CommitFault =
  | { readonly kind: 'crash'; readonly when: 'before' | 'after'; readonly how: 'kill' | 'power' }
  | {
      readonly kind: 'error';
      readonly when: 'before' | 'after';
      readonly code: 'SQLITE_FULL' | 'SQLITE_IOERR' | 'SQLITE_BUSY';
    };

export interface DatabaseRules {
  /** Asked once for each COMMIT of a transaction that wrote. */
  atCommit(process: SimProcess, path: string): CommitFault | undefined;
}

const openFiles = new WeakMap<Disk, Map<string, number>>();

/** What a process gets for the module libsql: the real database, on the world's disk. */
export function databaseModule(process: SimProcess, rules: DatabaseRules): unknown {
  const { disk } = process.machine;
  const counts = openFiles.get(disk) ?? new Map<string, number>();
  openFiles.set(disk, counts);
  const refuseDead = (): void => {
    if (!process.isAlive) throw databaseError('SQLITE_IOERR');
  };
  class SimDatabase {
    readonly #database: RealDatabase;
    readonly #path: string;
    #isOpen = true;

    constructor(path: string) {
      refuseDead();
      const [file = ''] = path.replace(/^file:\/\//, '').split('?');
      this.#path = disk.real(file);
      const real = path.startsWith('file:')
        ? path.replace(`file://${diskPath}`, `file://${disk.root}`)
        : this.#path;
      this.#database = new Libsql(real, { timeout: 0 });
      counts.set(this.#path, (counts.get(this.#path) ?? 0) + 1);
      process.onDeath(() => this.#abandon());
    }

    get inTransaction(): boolean {
      // libsql aborts the whole process where a closed database is asked.
      return this.#isOpen && process.isAlive && this.#database.inTransaction;
    }

    exec(sql: string): void {
      refuseDead();
      if (/^\s*COMMIT\b/i.test(sql)) this.#commit(sql);
      else this.#database.exec(sql);
    }

    #commit(sql: string): void {
      const fault = rules.atCommit(process, disk.seen(this.#path));
      if (fault?.when === 'before') {
        if (fault.kind === 'crash') process.kill(fault.how);
        throw databaseError(fault.kind === 'crash' ? 'SQLITE_IOERR' : fault.code);
      }
      this.#database.exec(sql);
      if (fault === undefined) return;
      if (fault.kind === 'crash') process.kill(fault.how);
      throw databaseError(fault.kind === 'crash' ? 'SQLITE_IOERR' : fault.code);
    }

    prepare(sql: string): RealStatement {
      refuseDead();
      const statement = this.#database.prepare(sql);
      const guarded = <T>(call: () => T): T => {
        refuseDead();
        return call();
      };
      return {
        run: (values) => guarded(() => statement.run(values)),
        get: (values) => guarded(() => statement.get(values)),
        all: (values) => guarded(() => statement.all(values)),
      };
    }

    close(): void {
      if (!this.#isOpen || !process.isAlive) return;
      this.#isOpen = false;
      this.#closeReal();
    }

    #closeReal(): void {
      counts.set(this.#path, (counts.get(this.#path) ?? 1) - 1);
      this.#database.close();
    }

    /** A process that is killed closes nothing: what the last one to close would write is taken back. */
    #abandon(): void {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      // A statement that is not finalized keeps a closed connection, and with it the transaction's lock.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      if ((counts.get(this.#path) ?? 0) > 1 || !existsSync(this.#path)) {
        this.#closeReal();
        return;
      }
      const files = ['', '-wal'].map((ending) => this.#path + ending).filter((file) => existsSync(file));
      for (const file of files) copyFileSync(file, `${file}.kept`);
      this.#closeReal();
      for (const ending of ['-wal', '-shm']) rmSync(this.#path + ending, { force: true });
      for (const file of files) {
        copyFileSync(`${file}.kept`, file);
        rmSync(`${file}.kept`);
      }
    }
  }
  return SimDatabase;
}

/** The same with promises, as of the module libsql/promise. */
export function promisedDatabaseModule(process: SimProcess, rules: DatabaseRules): unknown {
  const Blocking = databaseModule(process, rules) as new (path: string) => RealDatabase;
  const { disk } = process.machine;
  class SimPromisedDatabase {
    readonly #database: RealDatabase;
    constructor(path: string) {
      this.#database = new Blocking(path);
    }
    async prepare(sql: string) {
      const statement = await disk.later(process, 'prepare', '', () => this.#database.prepare(sql));
      return { all: (values: unknown) => disk.later(process, 'query', '', () => statement.all(values)) };
    }
    interrupt(): void {
      // Every query here ends at once.
    }
    close(): void {
      this.#database.close();
    }
  }
  return SimPromisedDatabase;
}

const messages = {
  SQLITE_FULL: 'database or disk is full',
  SQLITE_IOERR: 'disk I/O error',
  SQLITE_BUSY: 'database is locked',
};

const databaseError = (code: keyof typeof messages): Error =>
  Object.assign(new Error(messages[code]), { code });
