import { readFile } from 'node:fs/promises';

/** What one client may cost a receiver. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** From accept, TLS handshake included, to the first complete request; later from the first to the last byte of a request. */
  readonly requestMs: number;
  /** How long a connection may be idle between two requests. */
  readonly idleMs: number;
  /** How long a client may read nothing of an answer. */
  readonly answerMs: number;
  readonly bodyBytes: number;
  /** Request line and headers together. */
  readonly headerBytes: number;
  readonly headers: number;
  readonly connections: number;
  /** Memory of all bodies together, until their requests are answered. */
  readonly bufferedBytes: number;
  /** Of one body, before its sender's credential headers are looked at: as much as is kept of a rejected delivery. */
  readonly uncheckedBytes: number;
}

export const defaultLimits: Omit<Limits, 'connections'> = {
  requestMs: 15_000,
  idleMs: 65_000,
  answerMs: 15_000,
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headers: 100,
  bufferedBytes: 32 * 1024 * 1024,
  uncheckedBytes: 16 * 1024,
};

/** How often deadlines are checked. */
export const checkIntervalMs = (limits: Limits): number =>
  Math.max(10, Math.min(1_000, limits.requestMs / 15));

/** The deadline of a request, earlier than its limit by one check, so that no connection outlives the limit. */
export const requestDeadlineMs = (limits: Limits): number => limits.requestMs - checkIntervalMs(limits);

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
