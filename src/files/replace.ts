import { randomBytes } from 'node:crypto';
import { write } from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../time/clock.ts';
import { withOutputErrors } from './errors.ts';
import { findOutputPlace } from './output-place.ts';

interface ReplaceOptions {
  /** Permissions of the new file; default 0666 without the umask. */
  readonly mode?: number | undefined;
  /** The caller has the lock of this file, so a temporary file is one of a killed run, and is replaced. */
  readonly isLocked?: boolean;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Replaces a file in one step that survives power loss: a reader finds the whole old content or the whole new
 * content. Throws an `OutputError` and keeps the old content when it fails.
 */
export async function replaceFile(
  path: string,
  content: string,
  { mode, isLocked = false, owner }: ReplaceOptions = {},
): Promise<void> {
  const temporary = isLocked ? `${path}.tmp` : `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await withOutputErrors(path, async () => {
    try {
      if (isLocked) await rm(temporary, { force: true });
      const file = await open(temporary, 'wx', mode);
      await writeAndSync(file, async () => {
        if (owner !== undefined) await file.chown(owner.uid, owner.gid);
        await writeFile(file, content);
      });
      await renameDurably(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
}

async function writeAndSync(file: FileHandle, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name of a file is on disk only after its directory is synced. Windows cannot open directories, and needs no sync. */
export async function syncDirectory(path: string): Promise<void> {
  let directory: FileHandle;
  try {
    directory = await open(path, 'r');
  } catch (error) {
    if (['EISDIR', 'EPERM', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
    throw error;
  }
  await writeAndSync(directory, () => Promise.resolve()).catch((error: unknown) => {
    // Some network file systems cannot sync a directory; the content itself is synced already.
    if (!['EINVAL', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  });
}

/**
 * Writes a whole text to any output: it replaces a regular file in one step, and writes to a pipe, a device, or an open
 * descriptor at its position, since opening the descriptor's path would empty the file. Throws an `OutputError`.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const place = await findOutputPlace(path);
  if (place.kind === 'file') return replaceFile(place.path, text, { mode: place.mode });
  await withOutputErrors(path, () =>
    place.kind === 'descriptor' ? writeToDescriptor(place.fd, Buffer.from(text)) : writeFile(path, text),
  );
}

const fullPipePauseMs = 5;

/** A stream would close the descriptor, which belongs to the shell, and would fail when a slow reader lets a pipe fill up. */
export async function writeToDescriptor(fd: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    try {
      done += (await promisify(write)(fd, bytes, done, bytes.length - done)).bytesWritten;
    } catch (error) {
      // The pipe is full: node makes a descriptor such as stdout non-blocking.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await systemClock.sleep(fullPipePauseMs, signal);
    }
  }
}
