import { chmodSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes one directory at a time: where the system refuses a name with ENOENT although its parent exists, as
 * below /proc, node's own `recursive` never ends. Throws the system's error.
 */
export function makeDirectory(path: string, mode?: number): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    makeDirectory(parent, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // For a directory that exists, systems may report a missing permission or a read-only file system.
    if (!isDirectory(path)) throw error;
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A sticky directory, such as /tmp, is shared on purpose, so closing it would do harm. */
export const isOpenToOthers = ({ mode }: Pick<Stats, 'mode'>): boolean =>
  (mode & 0o077) !== 0 && (mode & 0o1000) === 0;

const refusals = ['EPERM', 'EROFS', 'ENOTSUP', 'ENOSYS'];

/**
 * Returns the system's refusal, such as on a read-only mount or for another user's file: using the path makes
 * it no less secret, and `doctor` reports that it is open.
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
