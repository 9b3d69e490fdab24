import type { Script } from 'node:vm';
import { type CommandRules, Commands } from './commands.ts';
import { databaseModule, type DatabaseRules, powerLossOfDatabases } from './database.ts';
import type { Disk } from './disk.ts';
import type { Network } from './network.ts';
import { nodeRequire, type SimProcess } from './process.ts';
import type { Scheduler } from './scheduler.ts';

export interface MachineOptions {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly disk: Disk;
  /** The built program, `main` as its export. */
  readonly program: Script;
  readonly databaseRules: DatabaseRules;
  readonly commandRules: CommandRules;
}

/** The machine that processes run on. */
export class Machine {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly disk: Disk;
  readonly program: Script;
  readonly commands: Commands;
  readonly processes = new Map<number, SimProcess>();
  readonly #databaseRules: DatabaseRules;

  constructor(options: MachineOptions) {
    this.scheduler = options.scheduler;
    this.network = options.network;
    this.disk = options.disk;
    this.program = options.program;
    this.commands = new Commands(options.scheduler, options.commandRules);
    this.#databaseRules = options.databaseRules;
  }

  /** What a process gets for a module that is neither node's nor simulated in process.ts. */
  moduleFor(name: string, process: SimProcess): unknown {
    if (name === 'libsql') return databaseModule(process, this.#databaseRules);
    return nodeRequire(name);
  }

  isRunning(pid: number): boolean {
    return this.processes.has(pid) || this.commands.has(pid);
  }

  /** What processes did to the world's files and targets after their death; to be 0. */
  get touchedByDead(): number {
    return this.disk.touchedByDead;
  }

  /** All that runs on it ends without a word; of its disk, what was synced is left, and of the rest a part. */
  powerLoss(): void {
    powerLossOfDatabases(this.disk);
    for (const process of [...this.processes.values()]) process.losePower();
    this.commands.powerLoss();
    this.disk.powerLoss();
  }

  kill(pid: number): void {
    this.processes.get(pid)?.kill();
    this.commands.kill(pid);
  }
}
