import { readFile } from 'node:fs/promises';

/** What systems without the file below allow at least. */
const usualLimit = 1024;

/** How many descriptors this process may have open; node has raised the soft limit to the hard one. */
export async function descriptorLimit(): Promise<number> {
  try {
    const text = await readFile('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(text)?.[1] ?? usualLimit);
  } catch {
    // No such file on macOS and Windows.
    return usualLimit;
  }
}
