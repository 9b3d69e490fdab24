import * as fs from 'node:fs';
import type { Disk, Owner } from './disk.ts';
import { diskError } from './disk.ts';
import type { FileContent } from './durability.ts';

/** How a file is opened, as the flags of node:fs say it. */
function readFlags(flags: string | number): {
  isCreating: boolean;
  isTruncating: boolean;
  isAppending: boolean;
} {
  const { O_CREAT, O_TRUNC, O_APPEND } = fs.constants;
  const is = (letters: string, bit: number): boolean =>
    typeof flags === 'number' ? (flags & bit) !== 0 : letters.includes(flags.charAt(0));
  return { isCreating: is('wa', O_CREAT), isTruncating: is('w', O_TRUNC), isAppending: is('a', O_APPEND) };
}

/** An open file of a process: the real one, and what of it is durable. */
export class OpenFile {
  readonly path: string;
  readonly fd: number;
  readonly #disk: Disk;
  readonly #owner: Owner;
  /** Undefined: a directory. */
  readonly #content: FileContent | undefined;
  readonly #isAppending: boolean;
  #position = 0;
  #isOpen = true;

  /** Throws as `fs.openSync` does. */
  constructor(disk: Disk, owner: Owner, path: string, flags: string | number, mode?: number) {
    const { isCreating, isTruncating, isAppending } = readFlags(flags);
    const real = disk.real(path);
    const isNew = isCreating && !fs.existsSync(real);
    disk.check(isNew ? 'create' : 'open', path);
    const before = isNew ? undefined : disk.durability.contentAt(real);
    before?.track(() => fs.readFileSync(real));
    this.fd = disk.effect(owner, () => fs.openSync(real, flags, mode));
    this.path = path;
    this.#disk = disk;
    this.#owner = owner;
    this.#isAppending = isAppending;
    this.#content = isNew ? disk.durability.created(real, fs.fstatSync(this.fd).ino) : before;
    if (isTruncating && !isNew) this.#content?.changed({ size: 0 }, disk.now());
  }

  #check(call: string, length = 0, write?: (length: number) => void): void {
    if (!this.#isOpen) throw diskError('EBADF', call, this.path);
    this.#disk.check(call, this.path, () => {
      // A part may have been written before there was no room.
      const part = length > 1 ? this.#disk.random.between(0, length - 1) : 0;
      if (part > 0) write?.(part);
    });
  }

  read(
    buffer: NodeJS.ArrayBufferView,
    offset: number,
    length: number,
    position?: number | bigint | null,
  ): number {
    this.#check('read');
    const count = fs.readSync(this.fd, buffer, offset, length, position ?? this.#position);
    if (position === null || position === undefined) this.#position += count;
    return count;
  }

  write(bytes: Uint8Array, offset: number, length: number, position?: number | null): number {
    const write = (count: number): void => {
      const size = this.#isAppending ? fs.fstatSync(this.fd).size : 0;
      const at = this.#isAppending ? size : (position ?? this.#position);
      this.#disk.effect(this.#owner, () => fs.writeSync(this.fd, bytes, offset, count, at));
      if (position === null || position === undefined) this.#position = at + count;
      const copy = Buffer.from(bytes.subarray(offset, offset + count));
      this.#content?.changed({ at, bytes: copy }, this.#disk.now());
    };
    this.#check('write', length, write);
    write(length);
    return length;
  }

  truncate(size: number): void {
    this.#check('ftruncate');
    this.#disk.effect(this.#owner, () => fs.ftruncateSync(this.fd, size));
    this.#content?.changed({ size }, this.#disk.now());
  }

  sync(call: 'fsync' | 'fdatasync'): void {
    try {
      this.#check(call);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBADF') this.#content?.syncFailed(this.#disk.random);
      throw error;
    }
    if (this.#content === undefined) this.#disk.durability.syncDirectory(this.#disk.real(this.path));
    else this.#content.sync();
  }

  stat(options?: fs.StatOptions): fs.Stats | fs.BigIntStats {
    this.#check('fstat');
    return this.#disk.stats(fs.fstatSync(this.fd, options));
  }

  /** Also of a process that died. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    fs.closeSync(this.fd);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }
}

type ReadOptions = {
  readonly buffer?: Buffer;
  readonly offset?: number;
  readonly length?: number;
  readonly position?: number | null;
};

/** A `FileHandle` of node:fs/promises. */
export class SimFileHandle {
  readonly #disk: Disk;
  readonly #owner: Owner;
  readonly #file: OpenFile;

  constructor(disk: Disk, owner: Owner, file: OpenFile) {
    this.#disk = disk;
    this.#owner = owner;
    this.#file = file;
  }

  get fd(): number {
    return this.#file.fd;
  }

  #later<T>(call: string, run: () => T): Promise<T> {
    return this.#disk.later(this.#owner, call, this.#file.path, run);
  }

  read(into: Buffer | ReadOptions, ...rest: (number | null | undefined)[]) {
    const isBuffer = ArrayBuffer.isView(into);
    const options = isBuffer ? { buffer: into, offset: rest[0], length: rest[1], position: rest[2] } : into;
    const buffer = options.buffer ?? Buffer.alloc(16_384);
    const offset = options.offset ?? 0;
    const length = options.length ?? buffer.length - offset;
    return this.#later('read', () => ({
      bytesRead: this.#file.read(buffer, offset, length, options.position),
      buffer,
    }));
  }

  write(bytes: Uint8Array | string, ...rest: (number | null | undefined)[]) {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const [offset, length, position] = typeof bytes === 'string' ? [0, undefined, rest[0]] : rest;
    const from = offset ?? 0;
    return this.#later('write', () => ({
      bytesWritten: this.#file.write(buffer, from, length ?? buffer.length - from, position),
      buffer: bytes,
    }));
  }

  async writeFile(data: string | Uint8Array): Promise<void> {
    const buffer = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < buffer.length;) at += (await this.write(buffer, at)).bytesWritten;
  }

  async readFile(options?: BufferEncoding | { encoding?: BufferEncoding }): Promise<string | Buffer> {
    const bytes = await this.#later('read', () => {
      const { size } = fs.fstatSync(this.fd);
      const buffer = Buffer.alloc(size);
      return buffer.subarray(0, this.#file.read(buffer, 0, size, 0));
    });
    const encoding = typeof options === 'string' ? options : options?.encoding;
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }

  stat(options?: fs.StatOptions) {
    return this.#later('fstat', () => this.#file.stat(options));
  }

  truncate(length = 0): Promise<void> {
    return this.#later('ftruncate', () => this.#file.truncate(length));
  }

  sync(): Promise<void> {
    return this.#later('fsync', () => this.#file.sync('fsync'));
  }

  datasync(): Promise<void> {
    return this.#later('fdatasync', () => this.#file.sync('fdatasync'));
  }

  close(): Promise<void> {
    if (!this.#file.isOpen) return Promise.resolve();
    return this.#later('close', () => this.#file.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
