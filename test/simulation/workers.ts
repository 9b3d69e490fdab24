import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Plan } from './world/plan.ts';
import type { WorldResult } from './world/result.ts';
import { resultOfFailure, type Task } from './worker.ts';

export interface WorkersOptions {
  /** The script of a child, and its arguments. */
  readonly worker: readonly string[];
  /** How many worlds run at a time. */
  readonly jobs: number;
}

export interface RunOptions {
  readonly program: string;
  readonly wantsTrace?: boolean;
}

interface Child {
  readonly process: ChildProcess;
  stderr: string;
  worlds: number;
}

interface Waiting {
  readonly task: Task;
  readonly resolve: (result: WorldResult) => void;
}

/** What is said of a world whose child died or had no time: the machine may be at fault. */
export const endedByMachine = 'the-world-ends';

/** A child is replaced after so many worlds, so that memory stays flat. */
const mostWorlds = 50;

/** A world leaves much behind that dies young: with node's own room for it, a tenth of the time is garbage collection. */
const nodeOptions = ['--max-semi-space-size=32', '--min-semi-space-size=16'];

/** In real time: a world takes two seconds of a core, and a core may be shared by thirty processes. */
const longestMs = 300_000;

const inMemory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Children that run worlds; a world whose child dies or hangs has failed. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #folder = mkdtempSync(`${inMemory}/leads-simulation-`);
  readonly #idle: Child[] = [];
  readonly #queue: Waiting[] = [];
  #busy = 0;
  #worlds = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    process.once('exit', () => this.close());
  }

  get jobs(): number {
    return this.#options.jobs;
  }

  run(plan: Plan, { program, wantsTrace = false }: RunOptions): Promise<WorldResult> {
    this.#worlds += 1;
    const task = { plan, program, wantsTrace, folder: `${this.#folder}/${this.#worlds}` };
    return new Promise((resolve) => {
      this.#queue.push({ task, resolve });
      this.#fill();
    });
  }

  close(): void {
    for (const child of this.#idle.splice(0)) child.process.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #fill(): void {
    while (this.#busy < this.#options.jobs) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#busy += 1;
      void this.#runIn(this.#idle.pop() ?? this.#start(), next.task).then((result) => {
        this.#busy -= 1;
        next.resolve(result);
        this.#fill();
      });
    }
  }

  #start(): Child {
    const [script = '', ...args] = this.#options.worker;
    const child = {
      process: fork(script, args, { stdio: 'pipe', execArgv: nodeOptions }),
      stderr: '',
      worlds: 0,
    };
    child.process.stderr?.on('data', (chunk: Buffer) => {
      child.stderr = (child.stderr + chunk.toString()).slice(-4000);
    });
    child.process.stdout?.resume();
    // That it cannot be written to shows as its end.
    child.process.on('error', () => undefined);
    return child;
  }

  #runIn(child: Child, task: Task): Promise<WorldResult> {
    return new Promise((resolve) => {
      const { process } = child;
      const end = (result: WorldResult): void => {
        clearTimeout(timer);
        process.off('message', answered);
        process.off('exit', died);
        child.worlds += 1;
        // What failed may have left something behind.
        if (result.failure === undefined && child.worlds < mostWorlds) this.#idle.push(child);
        else process.kill('SIGKILL');
        resolve(result);
      };
      const fail = (detail: string): void =>
        end(resultOfFailure(task.plan, { invariant: endedByMachine, detail, at: 0 }));
      const answered = (result: WorldResult): void => end(result);
      const died = (code: number | null, signal: string | null): void =>
        fail(`its process ended with ${signal ?? String(code)}\n${child.stderr}`);
      const timer = setTimeout(() => {
        fail(`it took longer than ${longestMs / 1000} seconds of real time`);
      }, longestMs);
      process.on('message', answered);
      process.on('exit', died);
      process.send(task);
    });
  }
}
