import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { cannotWrite, outputIsSocket, outputNoRegularFile, withOutputErrors } from './errors.ts';
import { ifMissing } from './read.ts';

export type OutputPlace =
  /** `path` is no link. `mode` holds the permissions, and is undefined when the file does not exist. */
  | { readonly kind: 'file'; readonly path: string; readonly mode: number | undefined }
  /**
   * An open descriptor of this process, which is neither replaced nor truncated, because the shell opened it.
   */
  | { readonly kind: 'descriptor'; readonly fd: number }
  | { readonly kind: 'fifo'; readonly path: string }
  | { readonly kind: 'device'; readonly path: string };

/** Linux follows no more links either. */
const mostLinks = 40;

/**
 * Finds what an output path leads to. It follows links one at a time, because the link of a pipe's descriptor leads to no path.
 * Throws an `OutputError` for a directory, a socket and an impossible path.
 */
export async function findOutputPlace(output: string): Promise<OutputPlace> {
  return withOutputErrors(output, async () => {
    let path = output;
    for (let links = 0; links <= mostLinks; links += 1) {
      const fd = await descriptorAt(path);
      if (fd !== undefined) return { kind: 'descriptor', fd };
      const stat = await lstat(path).catch(ifMissing);
      if (stat === undefined) return { kind: 'file', path, mode: undefined };
      if (stat.isFile()) return { kind: 'file', path, mode: stat.mode & 0o777 };
      if (stat.isFIFO()) return { kind: 'fifo', path };
      if (stat.isDirectory()) throw cannotWrite(output, { code: 'EISDIR' });
      if (stat.isSocket()) throw outputIsSocket(output);
      if (!stat.isSymbolicLink()) return { kind: 'device', path };
      path = resolve(await realpath(dirname(path)), await readlink(path));
    }
    throw cannotWrite(output, { code: 'ELOOP' });
  });
}

/** Returns 1 for `/dev/fd/1`, `/proc/self/fd/1` and other paths into these directories. */
async function descriptorAt(path: string): Promise<number | undefined> {
  const name = basename(path);
  if (!/^\d{1,9}$/.test(name)) return undefined;
  const directory = await realpath(dirname(path));
  for (const fdDirectory of ['/proc/self/fd', '/dev/fd']) {
    if (directory === (await realpath(fdDirectory).catch(() => undefined))) return Number(name);
  }
  return undefined;
}

/** The path of the regular file, links followed, that an output path leads to. Throws an `OutputError` for anything else. */
export async function regularFile(output: string): Promise<string> {
  const place = await findOutputPlace(output);
  if (place.kind === 'file') return place.path;
  throw outputNoRegularFile(output);
}
