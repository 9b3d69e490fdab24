import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/open-inbox.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { inboxPath } from '../flags/inbox-flag.ts';
import type { ListenOptions } from './options.ts';

interface ListenInbox {
  readonly inbox: Inbox;
  /** Closes the inbox. `isOver`: the run did what it was for, so that an inbox of its own is removed. */
  readonly close: (isOver: boolean) => Promise<void>;
}

/** Opens the inbox of one run. Throws a `ConfigError` when it cannot be opened. */
export async function openListenInbox(
  flags: ListenOptions,
  settings: Settings,
  context: Pick<Context, 'paths' | 'clock' | 'pid' | 'messages'>,
  verifier: Verifier,
  targets: readonly Target[],
): Promise<ListenInbox> {
  const { paths, clock, pid, messages } = context;
  const isTemporary = flags.inbox === undefined && isForTests(flags);
  const inbox = await openInbox({
    location: isTemporary ? await temporaryPath(paths.dataDir) : inboxPath(flags.inbox, settings, paths),
    clock,
    pid,
    warn: (text) => messages.warn(text),
    ...inboxRequirements(verifier, targets),
  });
  await noteOutstanding(inbox, messages);
  return {
    inbox,
    async close(isOver) {
      await inbox.close();
      if (isTemporary && isOver && !flags.keep) {
        await rm(dirname(inbox.location), { recursive: true, force: true });
      }
    },
  };
}

/** A run for a test gets a new inbox, but still on disk; any other continues the one that the last run used. */
const isForTests = ({ count, for: forMs, verify }: ListenOptions): boolean =>
  count !== undefined || forMs !== undefined || !verify;

/** Not where the system removes old files: they may be in use for long. */
async function temporaryPath(dataDir: string): Promise<string> {
  const parent = join(resolve(dataDir), 'temporary');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return join(await mkdtemp(join(parent, 'inbox-')), 'inbox.db');
}

/** Says what this run will not hand on: an app at another address, its port included, is another target. */
async function noteOutstanding(inbox: Inbox, messages: Pick<Context['messages'], 'note'>): Promise<void> {
  for (const { target, leads, wanted } of await inbox.outstanding()) {
    if (wanted) continue;
    const what = leads === 1 ? '1 lead is' : `${leads} leads are`;
    messages.note(
      `outstanding ${target}`,
      `${what} outstanding for another target, ${target}: 'leads inbox retry --pending --to URL' delivers what is outstanding`,
    );
  }
}
