import { readFile } from 'node:fs/promises';

/** What one client may cost a receiver. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** From accept, TLS handshake included, to the first complete request; later from a request's first byte to its last. */
  readonly requestMs: number;
  /** An open connection between two requests. */
  readonly idleMs: number;
  /** An answer that its reader does not take. */
  readonly answerMs: number;
  readonly bodyBytes: number;
  /** Request line and headers together. */
  readonly headerBytes: number;
  readonly headers: number;
  readonly connections: number;
  /** All unfinished bodies together. */
  readonly bufferedBytes: number;
}

export const defaultLimits: Omit<Limits, 'connections'> = {
  requestMs: 15_000,
  idleMs: 65_000,
  answerMs: 15_000,
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headers: 100,
  bufferedBytes: 256 * 1024 * 1024,
};

/** Beyond this, memory for TLS runs out before descriptors do. */
const mostConnections = 8192;

/** How many connections fit, with a quarter of the descriptors left for the inbox, forwards and children. */
export async function connectionLimit(): Promise<number> {
  const descriptors = (await descriptorLimit()) ?? 1024;
  return Math.max(16, Math.min(mostConnections, Math.floor(descriptors * 0.75)));
}

/** The process's own limit, where the system tells it in a file; node has raised soft to hard by now. */
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
