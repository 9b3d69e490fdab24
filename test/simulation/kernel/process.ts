import * as childProcess from 'node:child_process';
import * as crypto from 'node:crypto';
import * as http from 'node:http';
import { createRequire } from 'node:module';
import * as net from 'node:net';
import * as os from 'node:os';
import * as perfHooks from 'node:perf_hooks';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as util from 'node:util';
import { Script } from 'node:vm';
import type { Host, Output } from '../../../src/host.ts';
import { filesOn } from './file-calls.ts';
import type { Machine } from './machine.ts';
import { requestOn, serverOn, type SimSocket, systemError } from './network.ts';
import { type Random, randomOf } from './random.ts';
import type { Scheduled } from './scheduler.ts';
import { compiledOnce } from './web-assembly.ts';

export interface ProcessOptions {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly seed: number;
  /** By how much its clock is off, in milliseconds. */
  readonly clockError: () => number;
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** The timers of a process: as globals, and as of node:timers/promises. */
interface Timers {
  readonly globals: Readonly<Record<string, unknown>>;
  readonly promised: Readonly<Record<string, unknown>>;
}

/** A program that runs once: the module state of the product is its own, and after its death none of its calls settles. */
export class SimProcess {
  readonly machine: Machine;
  readonly options: ProcessOptions;
  readonly sockets = new Set<SimSocket>();
  readonly startedAt: number;
  readonly #stop = new AbortController();
  readonly #hangup = new Set<() => void>();
  readonly #random: Random;
  readonly #onDeath: (() => void)[] = [];
  stdout = '';
  stderr = '';
  isAlive = true;
  /** A call that blocks has not returned yet. */
  busyUntil = 0;
  exitCode: number | undefined;
  /** Resolves with the exit code, or undefined when it was killed. */
  readonly ended: Promise<number | undefined>;
  #resolveEnded: (code: number | undefined) => void = () => undefined;

  constructor(machine: Machine, options: ProcessOptions) {
    this.machine = machine;
    this.options = options;
    this.startedAt = machine.scheduler.now;
    this.#random = randomOf(options.seed, `process ${options.pid}`);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    machine.processes.set(options.pid, this);
  }

  get pid(): number {
    return this.options.pid;
  }

  now(): number {
    return Math.floor(this.machine.scheduler.now + this.options.clockError());
  }

  start(): this {
    const { main } = this.#load();
    void main(this.options.argv, this.#host()).then((code) => {
      if (!this.isAlive) return;
      this.exitCode = code;
      this.#end(false, code);
    });
    return this;
  }

  /** What must be closed when it ends, however it does. */
  onDeath(release: () => void): void {
    this.#onDeath.push(release);
  }

  /** Nothing that comes is looked at for so long. */
  block(ms: number): void {
    this.busyUntil = Math.max(this.busyUntil, this.machine.scheduler.now) + ms;
  }

  /** Without a word; `power` is lost by the whole machine. */
  kill(how: 'kill' | 'power' = 'kill'): void {
    if (!this.isAlive) return;
    if (how === 'power') this.machine.powerLoss();
    else this.#end(false, undefined);
  }

  /** With its connections, of whose end nobody hears. */
  losePower(): void {
    this.#end(true, undefined);
  }

  interrupt(): void {
    const { InterruptedError } = this.#errors;
    this.#stop.abort(new InterruptedError('SIGTERM'));
  }

  hangup(): void {
    for (const listener of this.#hangup) listener();
  }

  #errors: { InterruptedError: new (signal: string) => Error } = { InterruptedError: Error };

  #end(isSilent: boolean, code: number | undefined): void {
    this.isAlive = false;
    this.machine.processes.delete(this.pid);
    this.machine.network.drop(this, isSilent);
    for (const release of this.#onDeath.splice(0)) release();
    this.machine.disk.release(this);
    this.#resolveEnded(code);
  }

  #load(): { main: (argv: readonly string[], host: Host) => Promise<number> } {
    const timers = this.#timers();
    const module = { exports: {} as Record<string, unknown> };
    const globals: Record<string, unknown> = {
      module,
      exports: module.exports,
      require: this.#require(timers),
      ...timers.globals,
      Date: this.#date(),
      Math: Object.create(Math, { random: { value: () => this.#random.next() } }),
      performance: { now: () => this.steady(), timeOrigin: this.startedAt, mark: () => undefined },
      WebAssembly: compiledOnce,
      FinalizationRegistry: NeverFinalized,
    };
    const run = this.machine.program.runInThisContext() as (...args: unknown[]) => void;
    run(...programParameters.map((name) => globals[name]));
    this.#errors = module.exports as never;
    return module.exports as never;
  }

  /** Milliseconds since it started; the process's clock may be wrong, this one is not. */
  steady(): number {
    return this.machine.scheduler.now - this.startedAt;
  }

  #date(): DateConstructor {
    const now = (): number => this.now();
    return class SimDate extends Date {
      constructor(...args: [] | [number]) {
        if (args.length === 0) super(now());
        else super(...args);
      }
      static override now(): number {
        return now();
      }
    } as DateConstructor;
  }

  #timers(): Timers {
    const { scheduler } = this.machine;
    const after = (ms: number, run: () => void): Scheduled =>
      scheduler.afterFor(this, ms, () => {
        if (this.isAlive) run();
      });
    class Timer {
      scheduled: Scheduled;
      readonly #ms: number;
      readonly #run: () => void;
      constructor(ms: number, run: () => void) {
        this.#ms = ms;
        this.#run = run;
        this.scheduled = after(ms, run);
      }
      ref = (): this => this;
      unref = (): this => this;
      hasRef = (): boolean => true;
      refresh(): this {
        this.scheduled.cancel();
        this.scheduled = after(this.#ms, this.#run);
        return this;
      }
      close(): this {
        this.scheduled.cancel();
        return this;
      }
      [Symbol.toPrimitive](): number {
        return 0;
      }
    }
    const clear = (timer: Timer | undefined | null): void => timer?.scheduled.cancel();
    const setTimeout = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer =>
      new Timer(Math.max(1, ms), () => run(...args));
    const setInterval = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer => {
      const timer: Timer = new Timer(Math.max(1, ms), () => {
        timer.refresh();
        run(...args);
      });
      return timer;
    };
    const setImmediate = (run: (...args: unknown[]) => void, ...args: unknown[]): Timer =>
      new Timer(0, () => run(...args));
    const promised = {
      setImmediate: (value?: unknown) => new Promise((resolve) => after(0, () => resolve(value))),
      setTimeout: (ms: number, value?: unknown) => new Promise((resolve) => after(ms, () => resolve(value))),
    };
    const globals = {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
    return { globals, promised };
  }

  #require(timers: Timers): (name: string) => unknown {
    const { machine } = this;
    const { network, disk } = machine;
    const files = filesOn(disk, this, (path) => this.#procFile(path));
    const random = this.#random;
    const connect = (options: { port: number | string }): SimSocket =>
      network.connect(Number(options.port), this);
    const modules: Record<string, unknown> = {
      fs: files.blocking,
      'fs/promises': files.promised,
      'timers/promises': timers.promised,
      timers: timers.globals,
      perf_hooks: {
        ...perfHooks,
        performance: { now: () => this.steady(), timeOrigin: this.startedAt },
        PerformanceObserver: NeverObserved,
      },
      net: { ...net, connect, createConnection: connect, createServer: refused('net.createServer') },
      http: {
        ...http,
        createServer: (options: http.ServerOptions, listener?: (request: never, response: never) => void) =>
          serverOn(network, this, options, listener),
        request: requestOn(network, this),
      },
      crypto: {
        ...crypto,
        randomBytes: (size: number) => Buffer.from(random.bytes(size)),
        randomUUID: () => uuidOf(random.bytes(16)),
        randomFillSync: (into: Uint8Array) => (into.set(random.bytes(into.length)), into),
      },
      os: {
        ...os,
        hostname: () => 'simulated',
        homedir: () => '/sim/home',
        tmpdir: () => '/sim/tmp',
        userInfo: () => ({ username: 'operator', homedir: '/sim/home', uid: 0, gid: 0, shell: '/bin/sh' }),
        getPriority: (pid: number) => {
          if (!machine.isRunning(pid))
            throw Object.assign(systemError('ESRCH', 'uv_os_getpriority'), { info: { code: 'ESRCH' } });
          return 0;
        },
      },
      child_process: {
        ...childProcess,
        spawn: (command: string) => {
          if (!this.isAlive) throw systemError('EPERM', 'spawn');
          return machine.commands.spawn(this, command);
        },
      },
      'dns/promises': { lookup: () => Promise.resolve({ address: '127.0.0.1', family: 4 }) },
      worker_threads: {
        isMainThread: true,
        parentPort: null,
        workerData: undefined,
        Worker: refused('Worker'),
        threadId: 0,
      },
      util: { ...util, promisify: util.promisify },
    };
    return (name) => {
      const plain = name.startsWith('node:') ? name.slice(5) : name;
      return modules[plain] ?? machine.moduleFor(name, this);
    };
  }

  /** What the kernel tells about a process of this machine. */
  #procFile(path: string): string | undefined {
    const [, asked] = /^\/proc\/(\d+)\/stat$/.exec(path) ?? [];
    if (asked === undefined) return undefined;
    const found = this.machine.processes.get(Number(asked));
    if (found === undefined)
      throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', syscall: 'open', path });
    return `${asked} (node) S ${'0 '.repeat(18)}${Math.floor(found.startedAt)} 0`;
  }

  #host(): Host {
    const { options, machine } = this;
    const output = (stream: 'stdout' | 'stderr'): Output =>
      new Writable({
        decodeStrings: false,
        write: (chunk: Buffer | string, _, done) => {
          if (!this.isAlive) return;
          const text = String(chunk);
          this[stream] += text;
          options.onOutput?.(stream, text);
          done();
        },
      });
    return {
      stdin: Readable.from([]),
      stdout: output('stdout'),
      stderr: output('stderr'),
      env: options.env,
      clock: {
        now: () => this.now(),
        steady: () => this.steady(),
        sleep: (ms, signal) =>
          new Promise((resolve, reject) => {
            const stop = (): void => {
              waiting.cancel();
              reject(signal?.reason as Error);
            };
            const waiting = machine.scheduler.after(ms, () => {
              signal?.removeEventListener('abort', stop);
              if (this.isAlive) resolve();
            });
            if (signal?.aborted === true) stop();
            else signal?.addEventListener('abort', stop, { once: true });
          }),
      },
      random: () => this.#random.next(),
      signal: this.#stop.signal,
      onHangup: (listener) => {
        this.#hangup.add(listener);
        return () => void this.#hangup.delete(listener);
      },
      platform: 'linux',
      pid: this.pid,
      killGroup: (leader) => {
        if (this.isAlive) machine.kill(leader);
      },
      program: ['leads'],
    };
  }
}

/** The names that the program's source finds in place of node's own. */
const programParameters = [
  'module', 'exports', 'require', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval',
  'clearImmediate', 'Date', 'Math', 'performance', 'WebAssembly', 'FinalizationRegistry',
] as const; // prettier-ignore

/** Makes a program of the product's bundle: a function of what the world gives it. */
export function programOf(file: string): Script {
  const source = `(function (${programParameters.join(', ')}) {${readFileSync(file, 'utf8')}\n})`;
  return new Script(source, { filename: file });
}

export const nodeRequire = createRequire(import.meta.url);

/** Garbage collection is no event of the world. */
class NeverFinalized {
  register(): void {
    // Nothing is ever finalized.
  }
  unregister(): boolean {
    return false;
  }
}

/** Node would keep the observer, and with it the process and its world, after its death. */
class NeverObserved {
  observe(): void {
    // Nothing is ever observed.
  }
  disconnect(): void {
    // Nothing was observed.
  }
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

const refused = (name: string) =>
  function (): never {
    throw new Error(`${name} is not simulated`);
  };
