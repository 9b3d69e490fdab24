import { readFile } from 'node:fs/promises';

/** The text of a file in UTF-8; undefined when it does not exist. Throws the system's error for anything else. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
