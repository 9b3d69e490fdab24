import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { inboxPath } from '../flags/inbox-flag.ts';
import type { ListenOptions } from './options.ts';

/** A run for a test starts with a clean slate, but still on disk; any other goes on where the last one ended. */
export async function listenInboxPath(
  options: ListenOptions,
  settings: Settings,
  { paths }: Pick<Context, 'paths'>,
): Promise<string> {
  if (options.inbox !== undefined || !isForTests(options)) {
    return inboxPath(options.inbox, settings, paths);
  }
  return join(await mkdtemp(join(tmpdir(), 'leads-inbox-')), 'inbox.db');
}

const isForTests = (options: ListenOptions): boolean =>
  options.count !== undefined || options.for !== undefined || !options.verify;
