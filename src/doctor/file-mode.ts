import { type Stats, statSync } from 'node:fs';
import { isOpenToOthers } from '../files/close-to-others.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

/** A warning of a file that others may read: `listen` closes it where the system lets it, and uses it anyway. */
export function checkFileMode(name: string, path: string, platform: string): CheckResult[] {
  if (platform === 'win32') return [];
  const stat = statOf(path);
  if (stat === undefined || !isOpenToOthers(stat)) return [];
  return [checkNamed(name).warn({ kind: 'file-open', path, mode: modeOf(stat) })];
}

export const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Undefined also where it cannot be reached: whatever uses the file says what is wrong with the way to it. */
export function statOf(path: string, read = statSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
