import { chmodSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it, one at a time: where the system refuses a name with ENOENT although its parent exists,
 * as below /proc, node's own `recursive` never ends. Throws the system's error.
 */
export function makeDirectory(path: string, mode?: number): void {
  try {
    makeUnlessExists(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    makeDirectory(parent, mode);
    makeUnlessExists(path, mode);
  }
}

function makeUnlessExists(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // For a directory that exists, systems may report a missing permission or a read-only file system.
    if (!isDirectory(path)) throw error;
  }
}

/** Undefined only for a missing file: with `throwIfNoEntry: false`, node 26 gives it also where a directory of the path is a file. */
export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A sticky directory, such as /tmp, is shared on purpose, so closing it would do harm. */
export function isOpenToOthers({ mode }: Pick<Stats, 'mode'>): boolean {
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & 0o077) !== 0 && !isSticky;
}

const refusals = ['EPERM', 'EROFS', 'ENOTSUP', 'ENOSYS'];

/**
 * Sets the mode of a path that others may read. Returns the system's refusal, such as on a read-only mount or for another user's
 * file, so that the caller can go on: using the path makes it no less secret, and `doctor` reports that it is open.
 */
export function closeToOthers(path: string, stat: Stats, mode: number): NodeJS.ErrnoException | undefined {
  if (!isOpenToOthers(stat)) return undefined;
  try {
    chmodSync(path, mode);
    return undefined;
  } catch (error) {
    const refusal = error as NodeJS.ErrnoException;
    if (refusals.includes(refusal.code ?? '')) return refusal;
    throw error;
  }
}
