import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { lock } from '../../files/lock/lock.ts';
import { isAlive, parseHolder } from '../../files/lock/lock-owner.ts';
import { openInboxReader } from '../../inbox/open-inbox.ts';
import { makeDirectory } from '../../files/make-directory.ts';

type TemporaryContext = Pick<Context, 'paths' | 'clock' | 'pid' | 'signal'>;

/** The inbox of one run, in a directory of its own. */
export interface TemporaryInbox {
  readonly location: string;
  /** Removes it. */
  remove(): Promise<void>;
  /** Keeps it for good: without its lock, no later run takes it for one that was left behind. */
  keep(): Promise<void>;
}

/** For that long an inbox that a killed run left behind can be looked at, in milliseconds. */
const keptMs = 7 * 86_400_000;

const name = 'inbox.db';

/** Not where the system removes old files: they may be in use for long. */
const parentOf = (dataDir: string): string => join(resolve(dataDir), 'temporary');

/** Makes the directory for a new inbox, and removes those that killed runs left behind long ago. */
export async function createTemporaryInbox(context: TemporaryContext): Promise<TemporaryInbox> {
  const parent = parentOf(context.paths.dataDir);
  makeDirectory(parent, 0o700);
  await removeAbandoned(parent, context);
  const directory = await mkdtemp(join(parent, 'inbox-'));
  const location = join(directory, name);
  const held = await lock(location, context);
  return {
    location,
    remove: () => rm(directory, { recursive: true, force: true }),
    keep: () => held.release(),
  };
}

/** An inbox that is named by `--inbox` is not taken for one that was left behind any more. */
export async function adoptTemporaryInbox(
  location: string,
  { paths }: Pick<Context, 'paths'>,
): Promise<void> {
  if (dirname(dirname(location)) !== parentOf(paths.dataDir)) return;
  await rm(`${location}.lock`, { force: true });
}

async function removeAbandoned(parent: string, context: TemporaryContext): Promise<void> {
  for (const entry of await readdir(parent)) {
    const directory = join(parent, entry);
    try {
      if (entry.startsWith('inbox-') && (await isAbandoned(directory, context))) {
        await rm(directory, { recursive: true, force: true });
      }
    } catch {
      // Another run removes it, or it cannot be read: nobody is harmed when it stays.
    }
  }
}

/** Its run is dead, nothing was written for long, and no lead in it waits for a target. */
async function isAbandoned(directory: string, { clock, pid }: TemporaryContext): Promise<boolean> {
  const location = join(directory, name);
  const files = await readdir(directory);
  const written = await Promise.all(files.map(async (file) => (await stat(join(directory, file))).mtimeMs));
  if (Math.max(...written) > clock.now() - keptMs) return false;
  const holder = parseHolder(await readFile(`${location}.lock`, 'utf8'));
  if (holder === undefined || (await isAlive(holder, pid))) return false;
  const inbox = await openInboxReader({ location, clock });
  try {
    return (await inbox.outstanding()).length === 0;
  } finally {
    await inbox.close();
  }
}
