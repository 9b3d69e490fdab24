import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from './random.ts';

interface Write {
  readonly at: number;
  readonly bytes: Buffer;
}

type Change = Write | { readonly size: number };

const sectorBytes = 512;

/** The bytes of one file, whatever its names: those that a sync made durable, and what was written since. */
export class FileContent {
  /** As its inode. */
  readonly id: number;
  /** In milliseconds since the epoch. */
  modifiedAt: number;
  /** Something else than the disk's own calls writes it and makes it durable, such as a database. */
  isForeign = false;
  #durable: Buffer | undefined;
  #changes: Change[] = [];
  /** What is seen of it will not all be durable. */
  #hasLost = false;

  /** `durable`: undefined as long as nobody writes to what something else has made. */
  constructor(id: number, modifiedAt: number, durable?: Buffer) {
    this.id = id;
    this.modifiedAt = modifiedAt;
    this.#durable = durable;
  }

  /** Before it is written to: what it holds is durable. */
  track(read: () => Buffer): void {
    this.#durable ??= read();
  }

  get isSynced(): boolean {
    return this.isForeign || (this.#changes.length === 0 && !this.#hasLost);
  }

  changed(change: Change, at: number): void {
    this.modifiedAt = at;
    if (!this.isForeign) this.#changes.push(change);
  }

  sync(): void {
    if (this.#changes.length > 0) this.#take(this.#changes);
  }

  #take(changes: readonly Change[]): Buffer {
    this.#durable = withChanges(this.#durable ?? Buffer.alloc(0), changes);
    this.#changes = [];
    return this.#durable;
  }

  /** Some of what was written will never be durable, though the next sync succeeds. */
  syncFailed(random: Random): void {
    const kept = this.#changes.filter(() => random.chance(0.5));
    this.#hasLost ||= kept.length < this.#changes.length;
    this.#changes = kept;
  }

  /**
   * Of unsynced writes a part, in sectors, and zeros where the file has become longer and what was written there is lost. A
   * sector that was there is as it was, or as it was written. A change of the length is in a journal and therefore not taken
   * over by what was written after it.
   */
  powerLoss(random: Random): Buffer {
    const kept: Change[] = [];
    let size = this.#durable?.length ?? 0;
    for (const change of this.#changes) {
      if ('size' in change) {
        if (random.chance(0.5)) break;
        kept.push(change);
        size = change.size;
        continue;
      }
      const pieces = leftOf(change, size, random);
      for (const { at, bytes } of pieces) size = Math.max(size, at + bytes.length);
      kept.push(...pieces);
    }
    this.#hasLost = false;
    return this.#take(kept);
  }
}

/** Of a write to a file of that size: all, its length alone, some of its sectors, or nothing. */
function leftOf(write: Write, size: number, random: Random): readonly Write[] {
  switch (random.between(0, 3)) {
    case 0:
      return [write];
    case 1: {
      const end = write.at + write.bytes.length;
      return end > size ? [{ at: size, bytes: Buffer.alloc(end - size) }] : [];
    }
    case 2:
      return torn(write, random);
    default:
      return [];
  }
}

/** Each sector is written or not. */
function torn({ at, bytes }: Write, random: Random): Write[] {
  const kept: Write[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + sectorBytes - ((at + start) % sectorBytes));
    if (random.chance(0.5)) kept.push({ at: at + start, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return kept;
}

function withChanges(before: Buffer, changes: readonly Change[]): Buffer {
  let size = before.length;
  let room = size;
  for (const change of changes) {
    size = 'size' in change ? change.size : Math.max(size, change.at + change.bytes.length);
    room = Math.max(room, size);
  }
  const bytes = Buffer.alloc(room);
  before.copy(bytes);
  let end = before.length;
  for (const change of changes) {
    if ('size' in change) {
      if (change.size < end) bytes.fill(0, change.size, end);
      end = change.size;
    } else {
      change.bytes.copy(bytes, change.at);
      end = Math.max(end, change.at + change.bytes.length);
    }
  }
  return bytes.subarray(0, end);
}

type Names = Map<string, FileContent | 'directory'>;

interface NameChange {
  /** Directories whose entries it changes. */
  readonly directories: readonly string[];
  readonly apply: (names: Names) => void;
}

/**
 * What a file system with a journal keeps when the power fails: the names up to some change of them, at least up to the
 * last one of each directory that was synced, and of each file what was synced. Paths are those of the real files.
 */
export class Durability {
  readonly #root: string;
  readonly #now: () => number;
  readonly #byInode = new Map<number, FileContent>();
  readonly #names: Names = new Map();
  readonly #durable: Names = new Map();
  #changes: NameChange[] = [];
  #id = 0;

  constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  /** Of a file that is there; one that something else made is durable as it is. */
  contentAt(path: string): FileContent | undefined {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? this.contentOf(found.ino) : undefined;
  }

  contentOf(inode: number): FileContent {
    let content = this.#byInode.get(inode);
    if (content === undefined) {
      content = new FileContent(this.#nextId(), this.#now());
      this.#byInode.set(inode, content);
    }
    return content;
  }

  created(path: string, inode: number): FileContent {
    const content = new FileContent(this.#nextId(), this.#now(), Buffer.alloc(0));
    this.#byInode.set(inode, content);
    this.#change([path], (names) => names.set(path, content));
    return content;
  }

  madeDirectory(path: string): void {
    this.#change([path], (names) => names.set(path, 'directory'));
  }

  /** Runs a call that gives what is at `from`, if anything, the name `to`. */
  named(how: 'rename' | 'link', from: string, to: string, run: () => void): void {
    this.#know(from);
    this.#know(to);
    const what = this.#names.get(from);
    const over = this.#names.get(to);
    run();
    if (what === undefined) return;
    if (what === 'directory') {
      this.#syncAll();
      return;
    }
    this.#change([from, to], (names) => {
      if (how === 'rename') names.delete(from);
      names.set(to, what);
    });
    if (over instanceof FileContent && over.isForeign) this.syncDirectory(dirname(to));
  }

  /** Runs a call that removes what is at the path, and below it. */
  removed(path: string, run: () => unknown): unknown {
    this.#know(path);
    const result = run();
    if (!fs.existsSync(path)) {
      const paths = [...this.#names.keys()].filter((name) => name === path || name.startsWith(`${path}/`));
      for (const name of paths) this.#remove(name);
    }
    return result;
  }

  #remove(name: string): void {
    const what = this.#names.get(name);
    this.#change([name], (names) => names.delete(name));
    // What it held is not known here.
    if (what instanceof FileContent && what.isForeign) this.syncDirectory(dirname(name));
  }

  /** Runs what puts a new inode at the path of a file that is to be the same. */
  rewritten(path: string, run: () => void): void {
    const content = this.contentAt(path);
    run();
    if (content !== undefined) this.#byInode.set(fs.statSync(path).ino, content);
  }

  /** Journaled changes are durable in their order. */
  syncDirectory(path: string): void {
    const last = this.#changes.findLastIndex(({ directories }) => directories.includes(path));
    for (const { apply } of this.#changes.splice(0, last + 1)) apply(this.#durable);
  }

  /** Makes the real files what is left of them; no process has one open. */
  powerLoss(random: Random): void {
    const survivors = this.#survivors(random);
    const fresh = `${this.#root}.fresh`;
    const paths = new Map<FileContent, string>();
    for (const path of filesBelow(this.#root)) {
      const content = this.contentAt(path);
      if (content !== undefined) paths.set(content, path);
    }
    fs.mkdirSync(fresh);
    for (const [path, what] of [...survivors].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const to = join(fresh, path.slice(this.#root.length));
      if (what === 'directory') {
        fs.mkdirSync(to, { recursive: true });
        continue;
      }
      fs.mkdirSync(dirname(to), { recursive: true });
      const from = paths.get(what);
      if (from !== undefined) fs.linkSync(from, to);
      if (!what.isSynced || from === undefined) fs.writeFileSync(to, what.powerLoss(random), { mode: 0o600 });
      if (from === undefined) this.#byInode.set(fs.statSync(to).ino, what);
      paths.set(what, to);
    }
    fs.rmSync(this.#root, { recursive: true });
    fs.renameSync(fresh, this.#root);
    this.#changes = [];
    for (const names of [this.#names, this.#durable]) {
      names.clear();
      for (const [path, what] of survivors) names.set(path, what);
    }
  }

  #survivors(random: Random): Names {
    const count = random.between(0, this.#changes.length);
    const survivors: Names = new Map(this.#durable);
    for (const { apply } of this.#changes.slice(0, count)) apply(survivors);
    // What was changed by something else than the disk's own calls is durable.
    const there = new Set<string>();
    for (const path of namesBelow(this.#root)) {
      there.add(path);
      const what = fs.lstatSync(path).isDirectory() ? 'directory' : this.contentAt(path);
      if (what !== undefined && this.#names.get(path) !== what) survivors.set(path, what);
    }
    for (const path of this.#names.keys()) if (!there.has(path)) survivors.delete(path);
    return survivors;
  }

  #change(paths: readonly string[], apply: (names: Names) => void): void {
    apply(this.#names);
    this.#changes.push({ directories: paths.map((path) => dirname(path)), apply });
  }

  /** A name that something else gave is durable. */
  #know(path: string): void {
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return;
    const what = found.isDirectory() ? 'directory' : this.contentAt(path);
    if (what === undefined || this.#names.get(path) === what) return;
    this.#names.set(path, what);
    this.#durable.set(path, what);
  }

  #syncAll(): void {
    this.#changes = [];
    for (const names of [this.#names, this.#durable]) {
      names.clear();
      for (const path of namesBelow(this.#root)) {
        const what = fs.lstatSync(path).isDirectory() ? 'directory' : this.contentAt(path);
        if (what !== undefined) names.set(path, what);
      }
    }
  }

  #nextId(): number {
    this.#id += 1;
    return this.#id;
  }
}

const namesBelow = (root: string): string[] =>
  (fs.readdirSync(root, { recursive: true }) as string[]).sort().map((name) => join(root, name));

const filesBelow = (root: string): string[] =>
  namesBelow(root).filter((path) => fs.statSync(path, { throwIfNoEntry: false })?.isFile());
