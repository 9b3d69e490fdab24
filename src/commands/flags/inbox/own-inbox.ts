import { join, resolve } from 'node:path';
import type { Paths } from '../../../config/directories.ts';

/** The file of the inbox that a profile has where none is named. */
export const ownInbox = (profile: string, { dataDir }: Pick<Paths, 'dataDir'>): string =>
  join(resolve(dataDir), profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`);
