import { type Stats, statSync } from 'node:fs';
import Conf from 'conf';
import { lock } from '../files/lock.ts';
import { makeDirectory } from '../files/modes.ts';
import { withOutputErrors } from '../files/errors.ts';
import { regularFile } from '../files/output-place.ts';
import { replaceFile } from '../files/replace.ts';
import type { Host } from '../host.ts';
import { type Config, configVersion, type Profile } from './check-config.ts';
import { configFile, type Paths } from './directories.ts';
import { ownUserId, readConfig, withoutMark } from './read-config.ts';

type WriteContext = Pick<Host, 'pid' | 'clock' | 'signal'> & { readonly paths: Paths };

/**
 * Changes the configuration under a lock, so that of two writers neither loses the other's change, and replaces the file
 * in one step, 0600 in a 0700 directory, also where it is behind a link. Throws a `ConfigError` instead of overwriting a
 * file that is not ours.
 */
export async function updateConfig(context: WriteContext, change: (config: Config) => Config): Promise<void> {
  const { configDir } = context.paths;
  const path = configFile(configDir);
  const write = async (): Promise<void> => {
    makeDirectory(configDir, 0o700);
    const lockOnFile = await lock(path, context, { waitMs: 10_000 });
    try {
      const stored = readConfig(configDir);
      const conf = new Conf<Record<string, unknown>>({
        cwd: configDir,
        configName: 'config',
        projectName: 'leads',
        deserialize: (text) => JSON.parse(withoutMark(text)) as Record<string, unknown>,
      });
      const changed = { ...change(stored), version: configVersion };
      // Conf only says where the file is. Where SNAP is set it writes in place, and it does not notice half a write.
      const place = await regularFile(conf.path);
      await replaceFile(place, `${JSON.stringify(changed, null, 2)}\n`, {
        mode: 0o600,
        // Behind a link, the lock is beside the link and not beside this file.
        isLocked: place === conf.path,
        owner: ownerOf(place),
      });
    } finally {
      await lockOnFile.release();
    }
  };
  await withOutputErrors(path, write, 'LEADS_CONFIG_DIR');
}

/** The owner to keep for a file that root changes, as with sudo. */
const ownerOf = (path: string): Stats | undefined =>
  ownUserId() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined;

/** Changes one profile and leaves the others alone; a profile that ends up empty is removed. */
export const updateProfile = (
  context: WriteContext,
  name: string,
  change: (profile: Profile) => Profile,
): Promise<void> =>
  updateConfig(context, (config) => {
    const { [name]: current = {}, ...otherProfiles } = config.profiles ?? {};
    const changed = change(current);
    const isEmpty = Object.keys(changed).length === 0;
    return { ...config, profiles: isEmpty ? otherProfiles : { ...otherProfiles, [name]: changed } };
  });
