import * as fs from 'node:fs';
import { Readable } from 'node:stream';
import { type Disk, diskError, type Owner } from './disk.ts';
import { OpenFile, SimFileHandle } from './open-file.ts';

/** What a process sees of node:fs/promises and node:fs: what of them the product uses, on a disk. */
export interface FileModules {
  readonly promised: Readonly<Record<string, unknown>>;
  readonly blocking: Readonly<Record<string, unknown>>;
}

type Call = (...args: unknown[]) => unknown;

const real = fs as unknown as Record<string, Call>;

const toText = (path: unknown): string => (path instanceof URL ? path.pathname : String(path));

const readingCalls = ['access', 'lstat', 'readdir', 'readlink', 'realpath', 'stat'];
const removingCalls = ['rm', 'unlink'];

/** `virtualFile`: the text of a file that the kernel makes. */
export function filesOn(
  disk: Disk,
  owner: Owner,
  virtualFile: (path: string) => string | undefined,
): FileModules {
  const { durability } = disk;
  const run = (name: string, path: string, ...args: unknown[]): unknown =>
    (real[`${name}Sync`] as Call)(disk.real(path), ...args);
  const calls: Record<string, (path: string, ...args: unknown[]) => unknown> = {};
  for (const name of readingCalls)
    calls[name] = (path, ...args) => seenResult(disk, run(name, path, ...args));
  calls['chmod'] = (path, ...args) => disk.effect(owner, () => run('chmod', path, ...args));
  for (const name of removingCalls) {
    calls[name] = (path, ...args) =>
      disk.effect(owner, () => durability.removed(disk.real(path), () => run(name, path, ...args)));
  }
  for (const name of ['rename', 'link'] as const) {
    calls[name] = (from, to) => {
      const [a, b] = [disk.real(from), disk.real(toText(to))];
      disk.effect(owner, () => durability.named(name, a, b, () => fs[`${name}Sync`](a, b)));
    };
  }
  calls['readFile'] = (path, ...args) => virtualFile(path) ?? run('readFile', path, ...args);
  calls['statfs'] = (path) => disk.room(path);
  calls['truncate'] = (path, size) => {
    const file = new OpenFile(disk, owner, path, 'r+');
    try {
      file.truncate(Number(size ?? 0));
    } finally {
      file.close();
    }
  };
  const makeDirectory = (path: string, options?: fs.MakeDirectoryOptions | number): string | undefined => {
    const first = disk.effect(owner, () => fs.mkdirSync(disk.real(path), options as fs.MakeDirectoryOptions));
    const target = disk.real(path);
    const top = typeof options === 'object' && options.recursive === true ? first : target;
    if (top === undefined) return undefined;
    const parts = target.slice(top.length).split('/').slice(1);
    parts.reduce(
      (above, part) => {
        durability.madeDirectory(`${above}/${part}`);
        return `${above}/${part}`;
      },
      (durability.madeDirectory(top), top),
    );
    return first === undefined ? undefined : disk.seen(first);
  };
  calls['mkdir'] = (path, options) => makeDirectory(path, options as fs.MakeDirectoryOptions);
  const promised: Record<string, unknown> = { constants: fs.constants };
  const blocking: Record<string, unknown> = { constants: fs.constants };
  for (const [name, call] of Object.entries(calls)) {
    const checked = (path: string, args: readonly unknown[]): unknown => {
      disk.check(name, path);
      return call(path, ...args);
    };
    promised[name] = (first: unknown, ...args: unknown[]) =>
      first instanceof SimFileHandle
        ? first.readFile(args[0] as never)
        : disk.later(owner, name, toText(first), () => checked(toText(first), args));
    blocking[`${name}Sync`] = (first: unknown, ...args: unknown[]) =>
      now(disk, owner, () => checked(toText(first), args));
  }
  const open = (path: unknown, flags: string | number = 'r', mode?: number): Promise<SimFileHandle> =>
    disk.later(owner, 'open', toText(path), () => {
      const file = disk.opened(owner, new OpenFile(disk, owner, toText(path), flags, mode));
      return new SimFileHandle(disk, owner, file);
    });
  promised['open'] = open;
  promised['writeFile'] = async (
    to: unknown,
    data: string | Uint8Array,
    options?: { flag?: string; mode?: number },
  ): Promise<void> => {
    if (to instanceof SimFileHandle) return to.writeFile(data);
    const file = await open(to, options?.flag ?? 'w', options?.mode);
    try {
      await file.writeFile(data);
    } finally {
      await file.close();
    }
  };
  blocking['openSync'] = (path: unknown, flags: string | number = 'r', mode?: number) =>
    now(disk, owner, () => disk.opened(owner, new OpenFile(disk, owner, toText(path), flags, mode)).fd);
  blocking['closeSync'] = (fd: number) => now(disk, owner, () => disk.openFile(owner, fd).close());
  blocking['existsSync'] = (path: unknown) => owner.isAlive && fs.existsSync(disk.real(toText(path)));
  blocking['createReadStream'] = (path: unknown, options?: { start?: number; end?: number }) =>
    Readable.from(chunksOf(disk, owner, toText(path), options), { objectMode: false });
  return { promised, blocking };
}

/** A call that blocks takes no time, since nothing else could happen meanwhile. */
function now<T>(disk: Disk, owner: Owner, run: () => T): T {
  if (!owner.isAlive) throw diskError('EIO', 'call', '');
  try {
    return run();
  } catch (error) {
    throw disk.seenError(error);
  }
}

function seenResult(disk: Disk, found: unknown): unknown {
  if (typeof found === 'string') return disk.seen(found);
  if (Array.isArray(found))
    return (found as (string | fs.Dirent)[]).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return found instanceof Object && 'ino' in found ? disk.stats(found as fs.Stats) : found;
}

const nameOf = (entry: string | fs.Dirent): string => (typeof entry === 'string' ? entry : entry.name);

async function* chunksOf(
  disk: Disk,
  owner: Owner,
  path: string,
  { start = 0, end = Number.MAX_SAFE_INTEGER }: { start?: number; end?: number } = {},
): AsyncGenerator<Buffer> {
  const bytes = await disk.later(owner, 'read', path, () => {
    disk.check('read', path);
    return fs.readFileSync(disk.real(path));
  });
  for (let at = start; at < Math.min(end + 1, bytes.length); at += 65_536) {
    yield bytes.subarray(at, Math.min(at + 65_536, end + 1));
  }
}
