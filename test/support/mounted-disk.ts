import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freshHome } from './run.ts';

/** A file system of its own with so much room, until the test ends; undefined where this machine does not let us mount one. */
export function mountedDisk(size: string): string | undefined {
  const directory = join(freshHome(), 'disk');
  mkdirSync(directory);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]);
  if (mount.status !== 0) return undefined;
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
  return directory;
}
