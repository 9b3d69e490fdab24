import { type Stats, statSync } from 'node:fs';
import { isOpenToOthers } from '../files/close-to-others.ts';
import { type CheckResult, warn } from './check-result.ts';

/** A warning of a file that others may read: `listen` closes it where the system lets it, and uses it anyway. */
export function checkFileMode(name: string, path: string, platform: string): CheckResult[] {
  const stat = platform === 'win32' ? undefined : statOf(path);
  if (stat === undefined || !isOpenToOthers(stat)) return [];
  const hint = 'close it with chmod 600, unless its group is one that is to read it';
  return [warn(name, `${path} is readable by others (${modeOf(stat)})`, hint)];
}

export const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Undefined also for a file that cannot be reached: whatever uses it says what is wrong with the way to it. */
export function statOf(path: string, read = statSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
