import { homedir } from 'node:os';

/** Undefined where nothing names one: a container may run under a number that has no entry in passwd. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return env['HOME'] || homedir();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}
