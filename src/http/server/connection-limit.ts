import { readFile } from 'node:fs/promises';

/** With more connections, memory for TLS would run out before file descriptors do. */
const mostConnections = 8192;

/** How many connections fit, with a quarter of the descriptors left for the inbox, forwards and children. */
export async function connectionLimit(): Promise<number> {
  const descriptors = (await descriptorLimit()) ?? 1024;
  return Math.max(16, Math.min(mostConnections, Math.floor(descriptors * 0.75)));
}

/** The limit of this process, where the system has it in a file; node has raised the soft limit to the hard one. */
async function descriptorLimit(): Promise<number | undefined> {
  try {
    const text = await readFile('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // No such file on macOS and Windows.
    return undefined;
  }
}
