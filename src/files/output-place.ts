import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { cannotWrite, outputIsSocket, outputNoRegularFile, withOutputErrors } from './errors.ts';

/** What is at the end of a path that is to be written. */
export type OutputPlace =
  /** A regular file, or none yet. `path` is no link; `mode` are its permissions, undefined when it does not exist. */
  | { readonly kind: 'file'; readonly path: string; readonly mode: number | undefined }
  /** An open descriptor of this process, whatever it is: what the shell opened is neither replaced nor truncated. */
  | { readonly kind: 'descriptor'; readonly fd: number }
  /** A named pipe: it can be opened once it has a reader. */
  | { readonly kind: 'fifo'; readonly path: string }
  | { readonly kind: 'device'; readonly path: string };

/** As many as Linux follows. */
const mostLinks = 40;

/**
 * Follows the links of a path, one at a time and never through the system's own: the link of a pipe's descriptor
 * leads to no path. Throws an `OutputError` for a directory, a socket, and a path that cannot be.
 */
export async function findOutputPlace(output: string): Promise<OutputPlace> {
  return withOutputErrors(output, async () => {
    let path = output;
    for (let links = 0; links <= mostLinks; links += 1) {
      const fd = await descriptorAt(path);
      if (fd !== undefined) return { kind: 'descriptor', fd };
      const found = await lstat(path).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      });
      if (found === undefined) return { kind: 'file', path, mode: undefined };
      if (found.isFile()) return { kind: 'file', path, mode: found.mode & 0o777 };
      if (found.isFIFO()) return { kind: 'fifo', path };
      if (found.isDirectory()) throw cannotWrite(output, { code: 'EISDIR' });
      if (found.isSocket()) throw outputIsSocket(output);
      if (!found.isSymbolicLink()) return { kind: 'device', path };
      path = resolve(await realpath(dirname(path)), await readlink(path));
    }
    throw cannotWrite(output, { code: 'ELOOP' });
  });
}

/** The number in `/dev/fd/1`, `/proc/self/fd/1` and other paths into these directories. */
async function descriptorAt(path: string): Promise<number | undefined> {
  const name = basename(path);
  if (!/^\d{1,9}$/.test(name)) return undefined;
  const directory = await realpath(dirname(path));
  for (const own of ['/proc/self/fd', '/dev/fd']) {
    if (directory === (await realpath(own).catch(() => undefined))) return Number(name);
  }
  return undefined;
}

/** The path of a regular file behind all links, or of one that does not exist yet. Throws an `OutputError` for anything else. */
export async function regularFile(output: string): Promise<string> {
  const place = await findOutputPlace(output);
  if (place.kind === 'file') return place.path;
  throw outputNoRegularFile(output);
}
