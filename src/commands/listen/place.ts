import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { inboxPlace } from '../inbox-place.ts';
import type { ListenOptions } from './options.ts';

/** A run for a test starts with a clean slate, but still on disk; any other goes on where the last one ended. */
export async function listenPlace(
  options: ListenOptions,
  settings: Settings,
  { paths }: Pick<Context, 'paths'>,
): Promise<{ readonly place: string; readonly fresh: boolean }> {
  if (options.inbox !== undefined || !isForTests(options)) {
    return { place: inboxPlace(options.inbox, settings, paths), fresh: false };
  }
  const directory = await mkdtemp(join(tmpdir(), 'leads-inbox-'));
  return { place: resolve(directory, 'inbox.db'), fresh: true };
}

const isForTests = (options: ListenOptions): boolean =>
  options.count !== undefined || options.for !== undefined || !options.verify;
