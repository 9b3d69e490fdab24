import { type BigIntStats, fstatSync, readdirSync, statSync } from 'node:fs';

/** How many descriptors of this process are open on a file. An unclosed one ends the process on Node 26. */
export function descriptorsOn(path: string): number {
  const { ino, dev } = statSync(path, { bigint: true });
  return readdirSync('/dev/fd').filter((fd) => {
    const found = statsOf(Number(fd));
    return found?.ino === ino && found.dev === dev;
  }).length;
}

/** Undefined for the descriptor that the listing itself had. */
function statsOf(fd: number): BigIntStats | undefined {
  try {
    return fstatSync(fd, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBADF') return undefined;
    throw error;
  }
}
