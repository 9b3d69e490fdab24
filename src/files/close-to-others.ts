import { chmodSync, type Stats } from 'node:fs';

/** A sticky directory, such as /tmp, is shared on purpose: closing it would do harm. */
export const isOpenToOthers = ({ mode }: Pick<Stats, 'mode'>): boolean =>
  (mode & 0o077) !== 0 && (mode & 0o1000) === 0;

const refusals = ['EPERM', 'EROFS', 'ENOTSUP', 'ENOSYS'];

/**
 * Gives a file or directory `mode` where it is open to others. Returns what the system refuses that with, such as on a mount
 * that is read-only or has no modes, or for what another user owns: it is no less secret for being used, and `doctor` says that
 * it is open.
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
