import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { systemError } from './network.ts';
import type { Scheduled, Scheduler } from './scheduler.ts';

/** What a command is started with. */
export interface CommandStart {
  /** All that came before its stdin ended; a parent that dies while it writes ends it, too. */
  readonly stdin: Buffer;
  readonly pid: number;
}

/** What it then does, by itself: the death of its parent does not end it. */
export interface CommandCourse {
  /** Undefined: it hangs until it is killed. */
  readonly exitAfterMs: number | undefined;
  readonly exitCode: number;
  /** What it does to the world, unless it is killed before. */
  readonly effect?: { readonly afterMs: number; readonly run: () => void };
}

/** Decides what a command does; a code, such as `EAGAIN`, is why it cannot be started. `running`: how many its parent has. */
export interface CommandRules {
  failure(running: number): string | undefined;
  course(start: CommandStart, parent: Parent): CommandCourse;
}

/** Who starts commands. */
export interface Parent {
  readonly isAlive: boolean;
  onDeath(run: () => void): void;
}

/** Between a system call of one process and its effect on another one, in milliseconds. */
const pipeMs = 0.05;

/** What a pipe holds: so much of what a parent writes arrives even when it dies at once. */
const pipeBytes = 65_536;

/** The child processes of one machine. */
export class Commands {
  readonly #scheduler: Scheduler;
  readonly #rules: CommandRules;
  readonly #running = new Map<number, SimChild>();
  #pid = 50_000;

  constructor(scheduler: Scheduler, rules: CommandRules) {
    this.#scheduler = scheduler;
    this.#rules = rules;
  }

  /** `spawn` of node:child_process, of a shell's command line with pipes. */
  spawn(parent: Parent, command: string): SimChild {
    this.#pid += 1;
    const pid = this.#pid;
    const siblings = [...this.#running.values()].filter((child) => child.isOf(parent));
    const failure = this.#rules.failure(siblings.length);
    const child = new SimChild(this.#scheduler, parent, failure === undefined ? pid : undefined);
    if (failure !== undefined) {
      child.fail(systemError(failure, `spawn ${command}`));
      return child;
    }
    this.#running.set(pid, child);
    child.onEnd(() => this.#running.delete(pid));
    child.onInput((stdin) => child.follow(this.#rules.course({ stdin, pid }, parent)));
    return child;
  }

  has(pid: number): boolean {
    return this.#running.has(pid);
  }

  kill(pid: number): void {
    this.#running.get(pid)?.kill('SIGKILL');
  }

  /** They end without having heard of it, and nobody hears of their end. */
  powerLoss(): void {
    for (const child of this.#running.values()) child.stop();
    this.#running.clear();
  }
}

/** What of a `ChildProcess` the product uses. */
class SimChild extends EventEmitter {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout = new Readable({ read: () => undefined });
  readonly stderr = new Readable({ read: () => undefined });
  readonly #scheduler: Scheduler;
  readonly #parent: Parent;
  readonly #steps: Scheduled[] = [];
  readonly #received: Buffer[] = [];
  readonly #ends: (() => void)[] = [];
  #takeInput: ((stdin: Buffer) => void) | undefined;
  #isOver = false;

  constructor(scheduler: Scheduler, parent: Parent, pid: number | undefined) {
    super();
    this.#scheduler = scheduler;
    this.#parent = parent;
    this.pid = pid;
    this.stdin = this.#input();
    parent.onDeath(() => this.#inputEnded());
  }

  #input(): Writable {
    let held = 0;
    return new Writable({
      write: (chunk: Buffer, _, done) => {
        if (this.#isOver) {
          done(systemError('EPIPE', 'write'));
          return;
        }
        const room = Math.max(0, pipeBytes - held);
        held += chunk.length;
        this.#received.push(Buffer.from(chunk.subarray(0, room)));
        const rest = chunk.subarray(room);
        this.#after(pipeMs, () => {
          if (!this.#parent.isAlive) return;
          this.#received.push(Buffer.from(rest));
          held = 0;
          done();
        });
      },
      final: (done) => {
        this.#after(pipeMs, () => this.#inputEnded());
        done();
      },
    });
  }

  #inputEnded(): void {
    const take = this.#takeInput;
    this.#takeInput = undefined;
    take?.(Buffer.concat(this.#received));
  }

  isOf(parent: Parent): boolean {
    return this.#parent === parent;
  }

  onInput(take: (stdin: Buffer) => void): void {
    this.#takeInput = take;
  }

  onEnd(run: () => void): void {
    this.#ends.push(run);
  }

  fail(error: Error): void {
    this.#isOver = true;
    this.#tell(pipeMs, () => this.emit('error', error));
  }

  follow({ exitAfterMs, exitCode, effect }: CommandCourse): void {
    if (effect !== undefined) this.#after(effect.afterMs, effect.run);
    if (exitAfterMs === undefined) return;
    this.#after(exitAfterMs, () => this.#exit(exitCode, null));
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    if (this.#isOver) return false;
    this.#after(pipeMs, () => this.#exit(null, signal));
    return true;
  }

  stop(): void {
    this.#isOver = true;
    this.#takeInput = undefined;
    for (const step of this.#steps) step.cancel();
  }

  #exit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isOver) return;
    this.stop();
    for (const run of this.#ends) run();
    this.#tell(pipeMs, () => this.emit('exit', code, signal));
    this.#tell(2 * pipeMs, () => {
      this.stdout.push(null);
      this.stderr.push(null);
    });
    this.#tell(3 * pipeMs, () => this.emit('close', code, signal));
  }

  #after(ms: number, run: () => void): void {
    this.#steps.push(
      this.#scheduler.after(ms, () => {
        if (!this.#isOver) run();
      }),
    );
  }

  /** Only to a parent that lives. */
  #tell(ms: number, run: () => void): void {
    this.#scheduler.after(ms, () => {
      if (this.#parent.isAlive) run();
    });
  }
}
