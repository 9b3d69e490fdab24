import { chmodSync, type Stats } from 'node:fs';

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
