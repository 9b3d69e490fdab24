import { readFile } from 'node:fs/promises';

/** Systems without /proc allow at least this many. */
const usualLimit = 1024;

/** Node has raised the soft limit to the hard one. */
export async function descriptorLimit(): Promise<number> {
  try {
    const text = await readFile('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(text)?.[1] ?? usualLimit);
  } catch {
    return usualLimit;
  }
}
