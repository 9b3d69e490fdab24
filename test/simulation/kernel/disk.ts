import * as fs from 'node:fs';
import { join } from 'node:path';
import { Durability } from './durability.ts';
import type { OpenFile } from './open-file.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** Where the world's files seem to be. */
export const diskPath = '/sim';

/** What a disk does to a call. */
export interface DiskRules {
  /** In milliseconds. */
  delay(call: string, path: string): number;
  /**
   * The code of the error that a call ends with. `call` is that of node:fs or the system's: `create`, `open`, `read`, `write`,
   * `fsync`, `fdatasync`, `ftruncate`, `rename`, `link`, `unlink`, `stat`, …; a write that fails may have written its first
   * bytes. Calls that need no room do not fail for want of it.
   */
  failure(call: string, path: string): string | undefined;
}

/** Whose calls these are. */
export interface Owner {
  readonly isAlive: boolean;
}

const callsForRoom = [
  'create',
  'write',
  'fsync',
  'fdatasync',
  'mkdir',
  'mkdtemp',
  'link',
  'symlink',
  'copyFile',
];

/** Bytes of the disk, and those that are free unless it is full. */
const [diskBytes, freeBytes, blockBytes] = [2 ** 36, 2 ** 35, 4096];

let disks = 0;

/** A directory in memory that the processes of a world see below `diskPath`. */
export class Disk {
  readonly root: string;
  readonly rules: DiskRules;
  readonly random: Random;
  readonly durability: Durability;
  readonly #scheduler: Scheduler;
  readonly #open = new Map<Owner, Map<number, OpenFile>>();
  #scratches = 0;
  /** What the processes did to it after their death; to be 0. */
  touchedByDead = 0;

  /** `folder`: in memory; the files are in one of its own below it. */
  constructor(folder: string, scheduler: Scheduler, random: Random, rules: DiskRules) {
    disks += 1;
    // The databases of an earlier world may still be open, and remove their logs by their paths when they are closed.
    this.root = join(folder, `disk-${disks}`);
    this.rules = rules;
    this.random = random;
    this.#scheduler = scheduler;
    fs.mkdirSync(this.root, { recursive: true });
    this.durability = new Durability(this.root, () => scheduler.now);
  }

  real(path: string): string {
    return path === diskPath || path.startsWith(`${diskPath}/`)
      ? join(this.root, path.slice(diskPath.length))
      : path;
  }

  seen(path: string): string {
    return path.startsWith(this.root) ? `${diskPath}${path.slice(this.root.length)}` : path;
  }

  /** A new path beside the disk. */
  scratchPath(): string {
    this.#scratches += 1;
    return `${this.root}-scratch-${this.#scratches}`;
  }

  now(): number {
    return this.#scheduler.now;
  }

  /** Runs a call after the time that it takes; a process that died meanwhile never hears of it. */
  later<T>(owner: Owner, call: string, path: string, run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.rules.delay(call, path), () => {
        if (!owner.isAlive) return;
        try {
          resolve(run());
        } catch (error) {
          // A fault may have been its death.
          if (this.#isAlive(owner)) reject(this.seenError(error));
        }
      });
    });
  }

  #isAlive({ isAlive }: Owner): boolean {
    return isAlive;
  }

  /** Throws what the rules say; `part`: what happens nevertheless. */
  check(call: string, path: string, part?: () => void): void {
    const code = this.rules.failure(call, path);
    if (code === undefined || (code === 'ENOSPC' && !callsForRoom.includes(call))) return;
    part?.();
    throw diskError(code, call, path);
  }

  /** Runs what changes the disk, unless it is a dead process that does. */
  effect<T>(owner: Owner, run: () => T): T {
    if (owner.isAlive) return run();
    this.touchedByDead += 1;
    throw diskError('EIO', 'write', '');
  }

  opened(owner: Owner, file: OpenFile): OpenFile {
    const files = this.#open.get(owner) ?? new Map<number, OpenFile>();
    this.#open.set(owner, files);
    files.set(file.fd, file);
    return file;
  }

  openFile(owner: Owner, fd: number): OpenFile {
    const file = this.#open.get(owner)?.get(fd);
    if (file?.isOpen !== true) throw diskError('EBADF', 'file', String(fd));
    return file;
  }

  /** Closes what a process that is gone had open. */
  release(owner: Owner): void {
    for (const file of this.#open.get(owner)?.values() ?? []) file.close();
    this.#open.delete(owner);
  }

  /** What was synced is left, and of the rest a part. */
  powerLoss(): void {
    this.durability.powerLoss(this.random);
  }

  /** Inodes and times are the world's. */
  stats<T extends fs.Stats | fs.BigIntStats>(found: T): T {
    const content = found.isFile() ? this.durability.contentOf(Number(found.ino)) : undefined;
    const at = content?.modifiedAt ?? 0;
    const ms = Math.floor(at);
    const time = new Date(ms);
    // One assignment of known names: defined as properties they cost more than the call itself.
    Object.assign(found, { atime: time, mtime: time, ctime: time, birthtime: time });
    if (typeof found.size === 'bigint') {
      const [big, ns] = [BigInt(ms), BigInt(Math.round(at * 1000)) * 1000n];
      Object.assign(found, { dev: 1n, ino: BigInt(content?.id ?? 0) });
      Object.assign(found, { atimeMs: big, mtimeMs: big, ctimeMs: big, birthtimeMs: big });
      return Object.assign(found, { atimeNs: ns, mtimeNs: ns, ctimeNs: ns, birthtimeNs: ns });
    }
    Object.assign(found, { dev: 1, ino: content?.id ?? 0 });
    return Object.assign(found, { atimeMs: at, mtimeMs: at, ctimeMs: at, birthtimeMs: at });
  }

  room(path: string): Omit<fs.StatsFs, never> {
    const isFull = this.rules.failure('write', path) === 'ENOSPC';
    const free = isFull ? 0 : freeBytes / blockBytes;
    const blocks = diskBytes / blockBytes;
    return { type: 0, bsize: blockBytes, blocks, bfree: free, bavail: free, files: 1e6, ffree: 1e6 };
  }

  seenError(error: unknown): Error {
    if (!(error instanceof Error)) return new Error(String(error));
    const system = error as NodeJS.ErrnoException & { dest?: string };
    if (system.path !== undefined) system.path = this.seen(system.path);
    if (system.dest !== undefined) system.dest = this.seen(system.dest);
    error.message = error.message.replaceAll(this.root, diskPath);
    return error;
  }
}

export const diskError = (code: string, call: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path, errno: -5 });
