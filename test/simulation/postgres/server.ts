import type { CrashTime } from '../kernel/database.ts';
import { systemError } from '../kernel/network.ts';
import type { SimProcess } from '../kernel/process.ts';
import type { Random } from '../kernel/random.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import { execute, type ResultRow, type SentStatement, type Working } from './statements.ts';
import { Changes, newTables, type Tables } from './tables.ts';

/** What becomes of a message: its answer never comes, comes late, or says no, or the connection ends before or behind it. */
export type MessageFault =
  | { readonly kind: 'silent' | 'cut' | 'cut-behind' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'failed'; readonly code: string };

/** What becomes of a COMMIT: the process dies, the answer is lost, or the database says no. */
export type PostgresCommitFault =
  | { readonly kind: 'crash'; readonly when: Exclude<CrashTime, 'during'>; readonly how: 'kill' | 'power' }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'lost' };

/** What goes wrong, as the world decides it. */
export interface PostgresRules {
  /** Asked for each message, and for each session that is opened. */
  atMessage(process: SimProcess): MessageFault | undefined;
  /** Asked for each COMMIT. */
  atCommit(process: SimProcess): PostgresCommitFault | undefined;
}

/** Without rows: the database said no, and the transaction is rolled back. Undefined: the connection ended. */
export type Answer<T> = { readonly rows: T } | { readonly code: string } | undefined;

type StatementRows = readonly (readonly ResultRow[])[];

/** A connection of a process, as its end in the product uses it. */
export interface PostgresLink {
  readonly isClosed: boolean;
  readonly isInTransaction: boolean;
  onClose(closed: () => void): void;
  /** Statements as one message: those behind one that fails are not executed. */
  send(statements: readonly SentStatement[], settle: (answer: Answer<StatementRows>) => void): void;
  /** What the product says in SQL of its own, in a transaction of its own. */
  ask<T>(work: Work<T>, settle: (answer: Answer<T>) => void): void;
  end(): void;
}

/** `writes`: it ends with a COMMIT. */
export interface Work<T> {
  readonly writes: boolean;
  readonly run: (working: Working) => T;
}

/**
 * The database that the receivers of a world share. It outlives their deaths and their machine. Its transactions are serial:
 * a message waits until the transaction that is open on another connection has ended.
 */
export class PostgresServer {
  readonly rules: PostgresRules;
  readonly #tables = newTables();
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #waiting: { readonly session: PostgresSession; readonly run: () => void }[] = [];
  /** Of which a transaction is open. */
  #holder: PostgresSession | undefined;
  #number = 0;

  constructor(scheduler: Scheduler, random: Random, rules: PostgresRules) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.rules = rules;
  }

  /** What is committed. */
  look<T>(read: (tables: Tables) => T): T {
    const open = this.#holder?.changes;
    return open === undefined ? read(this.#tables) : open.without(() => read(this.#tables));
  }

  connect(process: SimProcess): Promise<PostgresLink> {
    return new Promise((resolve, reject) => {
      const fault = this.rules.atMessage(process);
      if (fault?.kind === 'silent') return;
      this.#scheduler.afterFor(process, this.#wayMs(fault), () => {
        if (!process.isAlive) return;
        if (fault === undefined || fault.kind === 'slow') resolve(new PostgresSession(this, process));
        else reject(systemError('ECONNREFUSED', 'connect'));
      });
    });
  }

  #wayMs(fault?: MessageFault): number {
    return 0.1 + this.#random.next() + (fault?.kind === 'slow' ? fault.ms : 0);
  }

  receive<T>(session: PostgresSession, run: () => Answer<T>, settle: (answer: Answer<T>) => void): void {
    const { process } = session;
    const fault = this.rules.atMessage(process);
    if (fault?.kind === 'silent') return;
    const answered = (answer: Answer<T>): void => {
      const heard = fault?.kind === 'cut-behind' ? undefined : answer;
      if (heard === undefined) session.end();
      this.#scheduler.afterFor(process, this.#wayMs(), () => {
        if (process.isAlive) settle(heard);
      });
    };
    this.#scheduler.after(this.#wayMs(fault), () => {
      if (session.isClosed) return;
      if (fault?.kind === 'cut') answered(undefined);
      else if (fault?.kind === 'failed') {
        session.rollBack();
        answered({ code: fault.code });
      } else this.#inTurn(session, () => answered(run()));
    });
  }

  #inTurn(session: PostgresSession, run: () => void): void {
    if (this.#holder === undefined || this.#holder === session) run();
    else this.#waiting.push({ session, run });
  }

  begun(session: PostgresSession): void {
    this.#holder = session;
  }

  /** Those that wait are served behind the event that ended it. */
  ended(session: PostgresSession): void {
    if (this.#holder !== session) return;
    this.#holder = undefined;
    this.#scheduler.after(0, () => {
      while (this.#holder === undefined) {
        const next = this.#waiting.shift();
        if (next === undefined) return;
        if (!next.session.isClosed) next.run();
      }
    });
  }

  working(changes: Changes): Working {
    return {
      tables: this.#tables,
      changes,
      now: Math.floor(this.#scheduler.now),
      drawNumber: () => (this.#number += 1),
    };
  }
}

class PostgresSession implements PostgresLink {
  readonly process: SimProcess;
  readonly #server: PostgresServer;
  #closed: (() => void) | undefined;
  isClosed = false;
  /** Of the open transaction. */
  changes: Changes | undefined;

  constructor(server: PostgresServer, process: SimProcess) {
    this.#server = server;
    this.process = process;
    process.onDeath(() => this.end());
  }

  get isInTransaction(): boolean {
    return this.changes !== undefined;
  }

  onClose(closed: () => void): void {
    this.#closed = closed;
  }

  send(statements: readonly SentStatement[], settle: (answer: Answer<StatementRows>) => void): void {
    this.#server.receive(this, () => this.#execute(statements), settle);
  }

  ask<T>({ writes, run }: Work<T>, settle: (answer: Answer<T>) => void): void {
    this.#server.receive(
      this,
      () => {
        const rows = run(this.#server.working(this.#begin()));
        if (!writes) {
          this.#ended();
          return { rows };
        }
        const failure = this.#commit();
        if (failure !== undefined) return failure === 'cut' ? undefined : failure;
        return { rows };
      },
      settle,
    );
  }

  end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.rollBack();
    if (this.process.isAlive) this.#closed?.();
  }

  rollBack(): void {
    this.changes?.undo();
    this.#ended();
  }

  #begin(): Changes {
    this.changes ??= new Changes();
    this.#server.begun(this);
    return this.changes;
  }

  #ended(): void {
    this.changes = undefined;
    this.#server.ended(this);
  }

  #execute(statements: readonly SentStatement[]): Answer<StatementRows> {
    const rows: (readonly ResultRow[])[] = [];
    for (const statement of statements) {
      const { text } = statement;
      if (text.startsWith('BEGIN')) this.#begin();
      else if (text === 'ROLLBACK') this.rollBack();
      else if (text === 'COMMIT') {
        const failure = this.#commit();
        if (failure !== undefined) return failure === 'cut' ? undefined : failure;
      } else {
        const found = execute(statement, this.#server.working(this.changes ?? new Changes()));
        if (/^(?:SELECT|WITH)|\bRETURNING\b/.test(text)) rows.push(found);
      }
    }
    return { rows };
  }

  /** Gives why it cannot be answered that it is done. */
  #commit(): { readonly code: string } | 'cut' | undefined {
    const fault = this.#server.rules.atCommit(this.process);
    if (fault?.kind === 'failed' || (fault?.kind === 'crash' && fault.when === 'before')) this.rollBack();
    else this.#ended();
    if (fault?.kind === 'failed') return { code: fault.code };
    if (fault?.kind === 'crash') this.process.kill(fault.how);
    return fault === undefined ? undefined : 'cut';
  }
}
