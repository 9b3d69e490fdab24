import * as fs from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** Where the world's files seem to be. */
export const diskPath = '/sim';

/** What a disk does to a call. */
export interface DiskRules {
  /** In milliseconds. */
  delay(): number;
  /** The code of the error that a call ends with; a write that fails with ENOSPC may have written its first bytes. */
  failure(call: string, path: string): string | undefined;
}

/** A directory in memory that the processes of a world see below `diskPath`. */
export class Disk {
  readonly root: string;
  readonly rules: DiskRules;
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(root: string, scheduler: Scheduler, random: Random, rules: DiskRules) {
    this.root = root;
    this.rules = rules;
    this.#scheduler = scheduler;
    this.#random = random;
    fs.mkdirSync(root, { recursive: true });
  }

  real(path: string): string {
    return path === diskPath || path.startsWith(`${diskPath}/`)
      ? join(this.root, path.slice(diskPath.length))
      : path;
  }

  seen(path: string): string {
    return path.startsWith(this.root) ? `${diskPath}${path.slice(this.root.length)}` : path;
  }

  /** Runs a call after the time that it takes; a process that died meanwhile never hears of it. */
  later<T>(owner: { readonly isAlive: boolean }, call: string, path: string, run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.rules.delay(), () => {
        if (!owner.isAlive) return;
        try {
          resolve(this.now(call, path, run));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  now<T>(call: string, path: string, run: () => T): T {
    const code = this.rules.failure(call, path);
    if (code !== undefined) throw diskError(code, call, path);
    try {
      return run();
    } catch (error) {
      throw this.#seenError(error);
    }
  }

  /** How many of the bytes a write that fails leaves behind. */
  torn(length: number): number {
    return this.#random.between(0, Math.max(0, length - 1));
  }

  #seenError(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const system = error as NodeJS.ErrnoException;
    if (system.path !== undefined) system.path = this.seen(system.path);
    error.message = error.message.replaceAll(this.root, diskPath);
    return error;
  }
}

export const diskError = (code: string, call: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path, errno: -5 });

type Call = (...args: never[]) => unknown;

const pathCalls = [
  'access', 'appendFile', 'chmod', 'lstat', 'mkdir', 'mkdtemp', 'readFile', 'readdir', 'readlink', 'realpath', 'rm',
  'rmdir', 'stat', 'statfs', 'truncate', 'unlink', 'utimes', 'writeFile',
] as const; // prettier-ignore
const twoPathCalls = ['copyFile', 'link', 'rename', 'symlink'] as const;

interface Owner {
  readonly isAlive: boolean;
}

/** What of node:fs/promises and node:fs the product uses, on a disk; anything else is undefined there. */
export function filesOn(disk: Disk, owner: Owner, virtualFile: (path: string) => string | undefined) {
  const sync = fs as unknown as Record<string, Call>;
  const promised: Record<string, unknown> = {};
  const blocking: Record<string, unknown> = { constants: fs.constants };
  const toText = (path: unknown): string => (path instanceof URL ? path.pathname : String(path));
  const results = (name: string, found: unknown): unknown =>
    (name === 'realpath' || name === 'mkdtemp') && typeof found === 'string' ? disk.seen(found) : found;
  const calls = (name: string, paths: 1 | 2): void => {
    const work = (args: unknown[]): unknown => {
      const mapped = args.map((item, i) =>
        i < paths && typeof item !== 'number' ? disk.real(toText(item)) : item,
      );
      const found = name === 'readFile' ? virtualFile(toText(args[0])) : undefined;
      return found ?? results(name, (sync[`${name}Sync`] as Call)(...(mapped as never[])));
    };
    promised[name] = (...args: unknown[]) => {
      const [first] = args;
      if (first instanceof SimFile)
        return name === 'readFile' ? first.readFile(args[1] as never) : first.writeFile(args[1] as never);
      return disk.later(owner, name, toText(first), () => work(args));
    };
    blocking[`${name}Sync`] = (...args: unknown[]) => {
      if (!owner.isAlive) throw diskError('EIO', name, toText(args[0]));
      return disk.now(name, toText(args[0]), () => work(args));
    };
  };
  for (const name of pathCalls) calls(name, 1);
  for (const name of twoPathCalls) calls(name, 2);
  const descriptorCalls = [
    'close',
    'fchmod',
    'fdatasync',
    'fstat',
    'fsync',
    'ftruncate',
    'read',
    'write',
  ] as const;
  blocking['openSync'] = (path: string, flags: string | number = 'r', mode?: number) => {
    if (!owner.isAlive) throw diskError('EIO', 'open', toText(path));
    return disk.now('open', toText(path), () => fs.openSync(disk.real(toText(path)), flags, mode));
  };
  for (const name of descriptorCalls) {
    blocking[`${name}Sync`] = (...args: unknown[]) => {
      if (!owner.isAlive) throw diskError('EIO', name, '');
      return (sync[`${name}Sync`] as Call)(...(args as never[]));
    };
  }
  blocking['existsSync'] = (path: string) => owner.isAlive && fs.existsSync(disk.real(toText(path)));
  promised['constants'] = fs.constants;
  promised['open'] = (path: string, flags: string | number = 'r', mode?: number) =>
    disk.later(
      owner,
      'open',
      toText(path),
      () => new SimFile(disk, owner, toText(path), fs.openSync(disk.real(toText(path)), flags, mode)),
    );
  blocking['createReadStream'] = (path: string, options?: { start?: number; end?: number }) =>
    Readable.from(read(disk, owner, toText(path), options?.start ?? 0, options?.end), { objectMode: false });
  return { promised, blocking };
}

async function* read(
  disk: Disk,
  owner: Owner,
  path: string,
  start: number,
  end = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer> {
  const bytes = await disk.later(owner, 'read', path, () => fs.readFileSync(disk.real(path)));
  for (let at = start; at < Math.min(end + 1, bytes.length); at += 65_536) {
    yield bytes.subarray(at, Math.min(at + 65_536, end + 1));
  }
}

/** A `FileHandle` of node:fs/promises. */
export class SimFile {
  readonly #disk: Disk;
  readonly #owner: Owner;
  readonly path: string;
  readonly fd: number;
  #isOpen = true;

  constructor(disk: Disk, owner: Owner, path: string, fd: number) {
    this.#disk = disk;
    this.#owner = owner;
    this.path = path;
    this.fd = fd;
  }

  #call<T>(name: string, run: () => T): Promise<T> {
    return this.#disk.later(this.#owner, name, this.path, () => {
      if (!this.#isOpen) throw diskError('EBADF', name, this.path);
      return run();
    });
  }

  read(
    into: Buffer | { buffer?: Buffer; offset?: number; length?: number; position?: number | null },
    ...rest: (number | null | undefined)[]
  ) {
    const isBuffer = ArrayBuffer.isView(into);
    const options = isBuffer ? undefined : into;
    const buffer = isBuffer ? into : (options?.buffer ?? Buffer.alloc(16_384));
    const offset = (isBuffer ? rest[0] : options?.offset) ?? 0;
    const length = (isBuffer ? rest[1] : options?.length) ?? buffer.length - offset;
    const position = (isBuffer ? rest[2] : options?.position) ?? null;
    return this.#call('read', () => ({
      bytesRead: fs.readSync(this.fd, buffer, offset, length, position),
      buffer,
    }));
  }

  write(bytes: Uint8Array | string, ...rest: (number | null | undefined)[]) {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const [offset, length, position] = typeof bytes === 'string' ? [0, undefined, rest[0]] : rest;
    const from = offset ?? 0;
    const count = length ?? buffer.length - from;
    return this.#disk
      .later(this.#owner, 'write', this.path, () => {
        if (!this.#isOpen) throw diskError('EBADF', 'write', this.path);
        return { bytesWritten: fs.writeSync(this.fd, buffer, from, count, position ?? null), buffer: bytes };
      })
      .catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' || !this.#isOpen) throw error;
        const part = this.#disk.torn(count);
        if (part > 0) fs.writeSync(this.fd, buffer, from, part, position ?? null);
        throw error;
      });
  }

  async writeFile(data: string | Uint8Array): Promise<void> {
    const buffer = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < buffer.length;) at += (await this.write(buffer, at)).bytesWritten;
  }

  appendFile(data: string | Uint8Array): Promise<void> {
    return this.writeFile(data);
  }

  async readFile(options?: BufferEncoding | { encoding?: BufferEncoding }): Promise<string | Buffer> {
    const bytes = await this.#call('read', () => {
      const { size } = fs.fstatSync(this.fd);
      const buffer = Buffer.alloc(size);
      return buffer.subarray(0, fs.readSync(this.fd, buffer, 0, size, 0));
    });
    const encoding = typeof options === 'string' ? options : options?.encoding;
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }

  stat(options?: { bigint?: boolean }) {
    return this.#call('fstat', () => fs.fstatSync(this.fd, options as fs.StatOptions & { bigint?: false }));
  }

  truncate(length = 0): Promise<void> {
    return this.#call('ftruncate', () => fs.ftruncateSync(this.fd, length));
  }

  chmod(mode: number): Promise<void> {
    return this.#call('fchmod', () => fs.fchmodSync(this.fd, mode));
  }

  sync(): Promise<void> {
    return this.#call('fsync', () => undefined);
  }

  datasync(): Promise<void> {
    return this.#call('fdatasync', () => undefined);
  }

  createWriteStream(): Writable {
    return new Writable({
      write: (chunk: Buffer, _, done) => void this.writeFile(chunk).then(() => done(), done),
      final: (done) => void this.close().then(() => done(), done),
    });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    await this.#call('close', () => {
      this.#isOpen = false;
      fs.closeSync(this.fd);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
