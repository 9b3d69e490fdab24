import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/open-inbox.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { inboxPath } from '../flags/inbox-flag.ts';
import type { ListenOptions } from './options.ts';

/** Opens the inbox of one run. Throws a `ConfigError` when it cannot be opened. */
export async function openListenInbox(
  flags: ListenOptions,
  settings: Settings,
  context: Pick<Context, 'paths' | 'clock' | 'pid'>,
  verifier: Verifier,
  targets: readonly Target[],
): Promise<Inbox> {
  return openInbox({
    location: await listenInboxPath(flags, settings, context),
    clock: context.clock,
    pid: context.pid,
    ...inboxRequirements(verifier, targets),
  });
}

/** A run for a test gets a new inbox, but still on disk; any other continues the one that the last run used. */
async function listenInboxPath(
  flags: ListenOptions,
  settings: Settings,
  { paths }: Pick<Context, 'paths'>,
): Promise<string> {
  if (flags.inbox !== undefined || !isForTests(flags)) return inboxPath(flags.inbox, settings, paths);
  return join(await mkdtemp(join(tmpdir(), 'leads-inbox-')), 'inbox.db');
}

const isForTests = ({ count, for: forMs, verify }: ListenOptions): boolean =>
  count !== undefined || forMs !== undefined || !verify;
