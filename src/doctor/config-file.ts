import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';
import { configFile } from '../config/directories.ts';
import type { Settings } from '../config/load-settings.ts';
import type { LeadsError } from '../errors.ts';
import { isOpenToOthers } from '../files/modes.ts';
import { type CheckResult, fail, pass, warn } from './check-result.ts';

/** The configuration file before it was read, since reading tightens its permissions. */
export interface ConfigBefore {
  readonly path: string;
  readonly file: Stats | undefined;
  readonly directory: Stats | undefined;
}

export function statConfig(configDir: string): ConfigBefore {
  const path = configFile(configDir);
  return { path, file: statOf(path), directory: statOf(configDir, lstatSync) };
}

export function checkConfig(
  { path, file, directory }: ConfigBefore,
  settings: Pick<Settings, 'profile'> | LeadsError,
  platform: string,
): CheckResult {
  const name = 'machine.config';
  if (settings instanceof Error) return fail(name, settings);
  if (file === undefined) return pass(name, `no file ${path} yet; flags and environment count`);
  const hasModes = platform !== 'win32';
  const fault = `readable by others (${modeOf(file)})`;
  const fileNow = statOf(path);
  if (hasModes && isOpen(fileNow)) {
    const hint = 'close it where it is from: its owner with chmod 600, or the mode of what is mounted';
    return warn(name, `${path} is ${fault}, and cannot be closed from here`, hint);
  }
  if (hasModes && (isOpen(file) || isOpen(directory))) {
    const hint = 'if other people use this machine, replace the API key';
    return warn(name, `${path} was ${fault}, and is not any more`, hint);
  }
  try {
    accessSync(path, constants.W_OK);
  } catch {
    return warn(name, `${path} cannot be written`, 'settings cannot be changed until it belongs to you');
  }
  return pass(name, `${path},${hasModes ? ' readable by you alone,' : ''} profile ${settings.profile}`);
}

const isOpen = (stat: Stats | undefined): boolean =>
  stat !== undefined && !stat.isSymbolicLink() && isOpenToOthers(stat);

/** Warns of a file that others may read. `listen` makes it private where the system lets it, and uses it in any case. */
export function checkFileMode(name: string, path: string, platform: string): CheckResult[] {
  const stat = platform === 'win32' ? undefined : statOf(path);
  if (stat === undefined || !isOpenToOthers(stat)) return [];
  const hint = 'close it with chmod 600, unless its group is one that is to read it';
  return [warn(name, `${path} is readable by others (${modeOf(stat)})`, hint)];
}

const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Undefined also for a file that cannot be reached: the code that uses the file reports why. */
function statOf(path: string, read = statSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
