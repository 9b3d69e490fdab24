import { homedir, userInfo } from 'node:os';

/** Undefined where nothing names one: a container may run under a number that has no entry in passwd. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    // An empty HOME makes `homedir` empty, and files would be kept below the current directory.
    return env['HOME'] || homedir() || userInfo().homedir || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}
