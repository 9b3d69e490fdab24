import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  afterKill,
  afterPowerLoss,
  afterPowerLossUnordered,
  type DatabaseImage,
  readImage,
  writeImage,
} from './database-images.ts';
import { type Disk, diskPath } from './disk.ts';
import { nodeRequire, type SimProcess } from './process.ts';
import type { Random } from './random.ts';

interface RealStatement {
  run(values: unknown): unknown;
  get(values: unknown): unknown;
  all(values: unknown): unknown[];
}

interface RealDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): RealStatement;
}

const Libsql = nodeRequire('libsql') as new (path: string, options: { timeout: number }) => RealDatabase;

type DatabaseCode = keyof typeof messages;

export type CrashTime = 'before' | 'during' | 'after';

/**
 * What happens to a step that makes something durable. `during`: the process is killed between its writes, or the power fails
 * before they are synced.
 */
export type CommitFault =
  | { readonly kind: 'crash'; readonly when: CrashTime; readonly how: 'kill' | 'power' }
  | ({ readonly kind: 'error'; readonly when: 'before' | 'after' } & StatementFault);

/** A statement fails; the database may have ended the transaction by itself. */
export interface StatementFault {
  readonly code: DatabaseCode;
  readonly isRolledBack: boolean;
}

type CommitStep = 'commit' | 'statement' | 'checkpoint' | 'vacuum';

export interface DatabaseRules {
  /**
   * Asked for each COMMIT, each statement that writes without a transaction, and when the log is copied or the file written
   * anew. `isShared`: others have the file open, so that what a kill leaves of it is whole.
   */
  atCommit(process: SimProcess, path: string, step: CommitStep, isShared: boolean): CommitFault | undefined;
  /** Asked for each statement but COMMIT and ROLLBACK. */
  atStatement(process: SimProcess, path: string, sql: string): StatementFault | undefined;
  atOpen(process: SimProcess, path: string): DatabaseCode | undefined;
}

/**
 * The databases of one disk. No real connection is closed before the world is gone: what closes one is garbage
 * collection, at no time of the world, and it would then copy and remove the log. So each file is replaced by a new one
 * once the processes are gone that had it open.
 */
class DatabaseFiles {
  /** The processes that have a file open, by its path. */
  readonly #users = new Map<string, Set<SimProcess>>();
  readonly #images = new Map<string, DatabaseImage>();
  /** What was durable before the first step that its connection did not sync; `isOrdered`: none wrote to the file before its log. */
  readonly #unsynced = new Map<string, { readonly image: DatabaseImage; readonly isOrdered: boolean }>();
  readonly #real: RealDatabase[] = [];
  /** Those whose log is in a directory that was synced since. */
  readonly #logs = new Set<string>();
  readonly #disk: Disk;
  /** How often what a new connection would see may have changed. */
  changes = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  open(path: string, url: string, process: SimProcess): RealDatabase {
    const database = new Libsql(url, { timeout: 0 });
    this.#real.push(database);
    const users = this.#users.get(path) ?? new Set<SimProcess>();
    this.#users.set(path, users);
    const content = this.#disk.durability.contentAt(path);
    if (content !== undefined) content.isForeign = true;
    process.onDeath(() => {
      if (database.inTransaction) database.exec('ROLLBACK');
    });
    if (!users.has(process)) {
      users.add(process);
      process.onDeath(() => this.#left(path, process));
    }
    return database;
  }

  #left(path: string, process: SimProcess): void {
    const users = this.#users.get(path);
    users?.delete(process);
    if (users?.size !== 0) return;
    this.#logs.delete(path);
    this.changes += 1;
    const image = this.#images.get(path) ?? readImage(path);
    this.#images.delete(path);
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (isThere) this.#disk.durability.rewritten(path, () => writeImage(path, image));
  }

  isShared(path: string): boolean {
    return (this.#users.get(path)?.size ?? 0) > 1;
  }

  /** What the files hold once no process has them open. */
  leave(path: string, image: DatabaseImage): void {
    this.#images.set(path, image);
  }

  /** A step begins that syncs nothing, or only when it copies the log. */
  willNotSync(path: string, isOrdered: boolean): void {
    const before = this.#unsynced.get(path);
    if (before !== undefined && before.isOrdered === isOrdered) return;
    this.#unsynced.set(path, { image: before?.image ?? readImage(path), isOrdered });
  }

  /** A step has ended that syncs only when it copies the log: the log is then durable before the file, and both are in the end. */
  mayHaveCopied(path: string): void {
    const before = this.#unsynced.get(path);
    if (before?.isOrdered !== true) return;
    const image = readImage(path);
    if (!image.database.equals(before.image.database)) this.#unsynced.set(path, { image, isOrdered: true });
  }

  /** What was not synced is lost, or a part of it. */
  losePower(random: Random): void {
    for (const [path, { image, isOrdered }] of this.#unsynced) {
      const left = isOrdered ? afterPowerLoss : afterPowerLossUnordered;
      if (!this.#images.has(path)) this.leave(path, left(image, readImage(path), random));
    }
    this.#unsynced.clear();
  }

  /** Something was made durable: with the first sync of a new log, its directory is synced as well. */
  synced(path: string): void {
    this.#unsynced.delete(path);
    if (this.#logs.has(path)) return;
    if (existsSync(`${path}-wal`)) this.#logs.add(path);
    this.#disk.durability.syncDirectory(dirname(path));
  }
}

const filesOf = new WeakMap<Disk, DatabaseFiles>();

/** Before the processes end that have a database open. */
export const powerLossOfDatabases = (disk: Disk): void => filesOf.get(disk)?.losePower(disk.random);

/** Another number once what a database holds may have changed. */
export const changesOf = (disk: Disk): number => filesOf.get(disk)?.changes ?? 0;

/**
 * Opens a copy of a database as it is now, to look at it from outside of the world: a connection to the files themselves
 * would go on holding them.
 */
export function openCopy(disk: Disk, path: string): Pick<RealDatabase, 'prepare'> {
  const copy = disk.scratchPath();
  writeImage(copy, readImage(disk.real(path)));
  return new Libsql(copy, { timeout: 0 });
}

/** What a process gets for the module libsql: the real database, on the world's disk. */
export function databaseModule(process: SimProcess, rules: DatabaseRules): unknown {
  const { machine } = process;
  const { disk } = machine;
  const files = filesOf.get(disk) ?? new DatabaseFiles(disk);
  filesOf.set(disk, files);
  const refuseDead = (): void => {
    if (!process.isAlive) throw databaseError('SQLITE_IOERR');
  };
  const die = (how: 'kill' | 'power'): never => {
    process.kill(how);
    throw databaseError('SQLITE_IOERR');
  };
  return class SimDatabase {
    readonly #database: RealDatabase;
    readonly #path: string;
    readonly #seen: string;
    #isOpen = true;
    #synchronous: RealStatement | undefined;

    constructor(path: string) {
      refuseDead();
      const [file = ''] = path.replace(/^file:\/\//, '').split('?');
      this.#seen = file;
      this.#path = disk.real(file);
      const url = path.startsWith('file:')
        ? path.replace(`file://${diskPath}`, `file://${disk.root}`)
        : this.#path;
      const code = rules.atOpen(process, file);
      if (code !== undefined) throw databaseError(code);
      try {
        this.#database = files.open(this.#path, url, process);
      } catch (error) {
        throw disk.seenError(error);
      }
    }

    get inTransaction(): boolean {
      return this.#isOpen && process.isAlive && this.#database.inTransaction;
    }

    exec(sql: string): void {
      // It may be a script with a transaction of its own.
      files.changes += 1;
      this.#step(sql, () => this.#database.exec(sql));
    }

    prepare(sql: string): RealStatement {
      this.#refuse();
      const statement = disk.effect(process, () => this.#database.prepare(sql));
      // A statement whose `get` has thrown throws in every later call.
      let broken: Error | undefined;
      const guarded = <T>(call: () => T): T => {
        if (broken !== undefined) throw broken;
        return this.#step(sql, call);
      };
      return {
        run: (values) => guarded(() => statement.run(values)),
        get: (values) => {
          try {
            return guarded(() => statement.get(values));
          } catch (error) {
            broken = error as Error;
            throw error;
          }
        },
        all: (values) => guarded(() => statement.all(values)),
      };
    }

    /** The real connection stays open, as it does in node until its process ends. */
    close(): void {
      if (!this.#isOpen || !process.isAlive) return;
      this.#isOpen = false;
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    }

    #refuse(): void {
      refuseDead();
      if (!this.#isOpen) throw new TypeError('The database connection is not open');
    }

    #step<T>(sql: string, run: () => T): T {
      this.#refuse();
      const isEnd = /^\s*(?:COMMIT|ROLLBACK|END)\b/i.test(sql);
      const fault = isEnd ? undefined : rules.atStatement(process, this.#seen, sql);
      if (fault !== undefined) this.#failStatement(fault);
      const step = commitStepOf(sql, this.#database.inTransaction);
      return step === undefined ? disk.effect(process, run) : this.#commit(step, run);
    }

    #commit<T>(step: CommitStep, run: () => T): T {
      const fault = rules.atCommit(process, this.#seen, step, files.isShared(this.#path));
      if (fault?.when === 'before') return this.#fail(fault);
      const synced = this.#syncs();
      if (synced !== 'always') files.willNotSync(this.#path, synced === 'checkpoints');
      const before = fault?.when === 'during' ? readImage(this.#path) : undefined;
      const result = disk.effect(process, run);
      files.changes += 1;
      if (synced === 'checkpoints') files.mayHaveCopied(this.#path);
      process.block(disk.rules.delay('commit', this.#seen));
      if (synced === 'always' && !this.#database.inTransaction) files.synced(this.#path);
      if (before !== undefined && fault?.kind === 'crash') this.#crashDuring(before, fault.how);
      return fault === undefined ? result : this.#fail(fault);
    }

    /** What the connection makes durable, by itself as it was told. */
    #syncs(): 'always' | 'checkpoints' | 'never' {
      this.#synchronous ??= this.#database.prepare('PRAGMA synchronous');
      const [row] = this.#synchronous.all([]) as { synchronous: number }[];
      return row?.synchronous === 0 ? 'never' : row?.synchronous === 1 ? 'checkpoints' : 'always';
    }

    #crashDuring(before: DatabaseImage, how: 'kill' | 'power'): void {
      // What another process that lives has read of the log must stay.
      if (how === 'kill' && files.isShared(this.#path)) return;
      const left = how === 'kill' ? afterKill : afterPowerLoss;
      files.leave(this.#path, left(before, readImage(this.#path), disk.random));
    }

    #fail(fault: CommitFault): never {
      if (fault.kind === 'crash') die(fault.how);
      else this.#failStatement(fault);
      throw databaseError('SQLITE_IOERR');
    }

    #failStatement({ code, isRolledBack }: StatementFault): never {
      if (isRolledBack && this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw databaseError(code);
    }
  };
}

function commitStepOf(sql: string, inTransaction: boolean): CommitStep | undefined {
  if (/^\s*COMMIT\b/i.test(sql)) return 'commit';
  if (/^\s*PRAGMA\s+wal_checkpoint\b/i.test(sql)) return 'checkpoint';
  if (/^\s*VACUUM\b/i.test(sql)) return 'vacuum';
  const isWriting = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b/i.test(sql);
  return isWriting && !inTransaction ? 'statement' : undefined;
}

const messages = {
  SQLITE_FULL: 'database or disk is full',
  SQLITE_IOERR: 'disk I/O error',
  SQLITE_BUSY: 'database is locked',
  SQLITE_CANTOPEN: 'unable to open database file',
};

const databaseError = (code: DatabaseCode): Error => Object.assign(new Error(messages[code]), { code });
