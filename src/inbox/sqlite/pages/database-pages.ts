import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { logPages } from './log-pages.ts';
import { UnreadablePage } from './record.ts';

/** Pages of a database as they are after its last commit, by number, from 1. */
export interface DatabasePages {
  /** Where the rows of a page end: some bytes of each page may be kept for other uses. */
  readonly usableSize: number;
  page(number: number): Buffer;
}

/** How often it is read anew where the log was brought into the file meanwhile. */
const tries = 5;

const magic = 'SQLite format 3\0';

/**
 * Reads the database and its log as files: without locks, and without making or changing anything. Throws where the file
 * is not a database, or where each of five tries met a writer that brought its log into the file. Only for a process that
 * has no connection to this database: to close a file ends the locks that the process has on it (POSIX).
 */
export function readPages<T>(path: string, read: (pages: DatabasePages) => T): T {
  return withFile(path, (file) => {
    for (let i = 0; i < tries; i += 1) {
      const before = stateOf(file, path);
      const result = attempt(() => read(pagesOf(file, logPages(readLog(path)))));
      // What was appended to the log meanwhile was not read, and does no harm.
      if (stateOf(file, path) === before) return result();
    }
    throw new UnreadablePage(`${path} is written to all the time`);
  });
}

/** What it returned or threw, to be looked at once nobody wrote meanwhile: pages of two commits make no sense together. */
function attempt<T>(read: () => T): () => T {
  try {
    const result = read();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Another one after pages were written to the file, or the log was written from its start again. */
function stateOf(file: number, path: string): string {
  const { mtimeNs, size } = fstatSync(file, { bigint: true });
  return `${mtimeNs} ${size} ${readLog(path, 32).toString('hex')}`;
}

function pagesOf(file: number, log: ReadonlyMap<number, Buffer>): DatabasePages {
  const header = log.get(1) ?? readAt(file, 0, 100);
  if (header.length < 100 || header.toString('latin1', 0, magic.length) !== magic) {
    throw new UnreadablePage('not a database');
  }
  const stated = header.readUInt16BE(16);
  // 65,536 does not fit in two bytes.
  const pageSize = stated === 1 ? 65_536 : stated;
  return {
    usableSize: pageSize - header.readUInt8(20),
    page(number) {
      const page = log.get(number) ?? readAt(file, (number - 1) * pageSize, pageSize);
      if (page.length < pageSize) throw new UnreadablePage(`no page ${number}`);
      return page;
    },
  };
}

/** Empty where there is none. */
function readLog(path: string, length?: number): Buffer {
  try {
    return withFile(`${path}-wal`, (file) => readAt(file, 0, length ?? fstatSync(file).size));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openSync(path, 'r');
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, length === 0 ? 0 : readSync(file, bytes, 0, length, position));
}
