import { homedir, userInfo } from 'node:os';

/** Undefined where nothing names one: a container may run under a number that has no entry in passwd. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    // Where HOME is empty, `homedir` is as well, and what is kept would be below the current directory.
    return env['HOME'] || homedir() || userInfo().homedir || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}
