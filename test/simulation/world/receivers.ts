import { existsSync, readFileSync, statSync } from 'node:fs';
import { filesOn } from '../kernel/file-calls.ts';
import { SimProcess } from '../kernel/process.ts';
import type { ActorOptions } from './actor-options.ts';
import { inboxPath } from './inbox-file.ts';
import type { Flags, Happening } from './plan.ts';
import { token } from './senders.ts';
import { countIn, isAsSent, type Truth } from './truth.ts';

export const applicationPort = 3000;

export const portOf = (receiver: number): number => 8443 + receiver;

/** What `--exec` is given. */
const commandName = 'take-lead';

export interface ReceiverOptions extends ActorOptions {
  readonly onEnd: (receiver: number, process: SimProcess, code: number | undefined) => void;
}

interface Rotation {
  renameSync(from: string, to: string): void;
  rmSync(path: string): void;
  truncateSync(path: string, size: number): void;
}

/** The receivers of a world and their supervisor, which starts each again some seconds after its end. */
export class Receivers {
  readonly #options: ReceiverOptions;
  readonly #running = new Map<number, SimProcess>();
  /** Of each process that was started. */
  readonly #startedWith = new WeakMap<SimProcess, Flags>();
  /** Of receivers whose next start is not with the plan's. */
  readonly #flags = new Map<number, Flags>();
  /** What is done by them, a power loss may undo. */
  readonly #files: Rotation;
  #rotations = 0;
  #isOver = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    const person = { isAlive: true };
    this.#files = filesOn(options.machine.disk, person, () => undefined).blocking as unknown as Rotation;
  }

  get running(): ReadonlyMap<number, SimProcess> {
    return this.#running;
  }

  /** What the receiver that runs was started with. */
  flagsOf(receiver: number): Flags {
    const process = this.#running.get(receiver);
    return (process && this.#startedWith.get(process)) ?? this.#options.plan;
  }

  /** Ends it, and starts it with these flags from now on. */
  restart(receiver: number, flags: Flags): void {
    this.#flags.set(receiver, flags);
    this.#running.get(receiver)?.interrupt();
  }

  /** Those that run with other flags than the plan's start again. */
  restartAsPlanned(): void {
    for (const [receiver, flags] of this.#flags)
      if (flags !== this.#options.plan) this.restart(receiver, this.#options.plan);
  }

  startAll(): void {
    for (let receiver = 0; receiver < this.#options.plan.receivers; receiver += 1) this.#start(receiver);
  }

  #start(receiver: number): void {
    if (this.#isOver || this.#running.has(receiver)) return;
    const { plan, machine, clockError, nextPid, onOutput, onEnd, random } = this.#options;
    const flags = this.#flags.get(receiver) ?? plan;
    const process: SimProcess = new SimProcess(machine, {
      name: `receiver ${receiver}`,
      argv: this.#argv(receiver, flags),
      env: { HOME: '/sim/home', NO_COLOR: '1' },
      pid: nextPid(),
      seed: plan.seed,
      clockError,
      onOutput: (_, text) => onOutput(process, text),
    });
    this.#running.set(receiver, process);
    this.#startedWith.set(process, flags);
    process.start();
    void process.ended.then((code) => {
      this.#running.delete(receiver);
      onEnd(receiver, process, code);
      machine.scheduler.after(random.between(500, 20_000), () => this.#start(receiver));
    });
  }

  #argv(receiver: number, flags: Flags): string[] {
    const { plan } = this.#options;
    const { giveUp } = plan;
    const targets = flags.targets.flatMap((kind) => {
      const [flag, name, value] = {
        application: ['--forward-to', 'forward', `http://127.0.0.1:${applicationPort}/leads`] as const,
        file: ['--output', 'output', fileOf(receiver)] as const,
        command: ['--exec', 'exec', commandName] as const,
      }[kind];
      return giveUp === undefined ? [flag, value] : ['--target', JSON.stringify({ [name]: value, giveUp })];
    });
    return [
      'listen',
      ...['--token', token, '--http', '--port', String(portOf(receiver)), '--format', 'events'],
      ...['--inbox', inboxPath, ...targets],
    ];
  }

  /** Asks each to end, and starts none again. */
  stopAll(): void {
    this.#isOver = true;
    for (const process of this.#running.values()) process.interrupt();
  }

  /** As logrotate, or a person, does it; with a signal in half of the cases. */
  rotate(how: (Happening & { kind: 'rotate' })['how']): void {
    const { plan, machine, truth, random } = this.#options;
    for (let receiver = 0; receiver < plan.receivers; receiver += 1) {
      const path = machine.disk.real(fileOf(receiver));
      if (!existsSync(path)) continue;
      this.#rotations += 1;
      if (how === 'rename') {
        if (!this.#renamed(fileOf(receiver), `${fileOf(receiver)}.${this.#rotations}`)) continue;
      } else {
        for (const id of idsIn(path, truth)) countIn(truth.taken.file, id);
        if (how === 'remove') this.#files.rmSync(fileOf(receiver));
        // In the middle of its last line, where one is there.
        else
          this.#files.truncateSync(
            fileOf(receiver),
            how === 'cut' ? Math.max(0, statSync(path).size - 9) : 0,
          );
      }
      if (random.chance(0.5)) this.#running.get(receiver)?.hangup();
    }
  }

  /** A disk that fails refuses it, and the file stays as it is. */
  #renamed(from: string, to: string): boolean {
    try {
      this.#files.renameSync(from, to);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
      return false;
    }
  }

  /** How often each lead stands in the files that are there now. */
  linesInFiles(): Map<string, number> {
    const { plan, machine, truth } = this.#options;
    const counts = new Map<string, number>();
    for (let receiver = 0; receiver < plan.receivers; receiver += 1) {
      const path = machine.disk.real(fileOf(receiver));
      const rotated = Array.from({ length: this.#rotations }, (_, i) => `${path}.${i + 1}`);
      for (const file of [path, ...rotated])
        if (existsSync(file)) for (const id of idsIn(file, truth)) countIn(counts, id);
    }
    return counts;
  }
}

const fileOf = (receiver: number): string => `/sim/leads-${receiver}.ndjson`;

/** Of lines that are what a sender sent: a part of one that a crash left is no lead. */
function idsIn(path: string, truth: Truth): string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, id] = /^\{"id":"([^"]+)".*\}$/.exec(line) ?? [];
    return id === undefined || !isAsSent(truth, id, line) ? [] : [id];
  });
}
