import { accessSync, constants, lstatSync, type Stats } from 'node:fs';
import { configFile } from '../config/directories.ts';
import type { Settings } from '../config/load-settings.ts';
import { valueAt } from '../config/check-config.ts';
import { settingKeys } from '../config/setting-keys.ts';
import type { Profile } from '../config/settings.ts';
import type { LeadsError } from '../errors.ts';
import { isOpenToOthers } from '../files/close-to-others.ts';
import { checkNamed, type CheckResult } from './check-result.ts';
import { modeOf, statOf } from './file-mode.ts';

/** What the configuration file was like before it was read, since reading tightens its permissions. */
export interface FoundConfig {
  readonly path: string;
  readonly file: Stats | undefined;
  readonly directory: Stats | undefined;
}

export function findConfig(configDir: string): FoundConfig {
  const path = configFile(configDir);
  return { path, file: statOf(path), directory: statOf(configDir, lstatSync) };
}

/** `read` is what reading it gave. */
export function checkConfig(
  { path, file, directory }: FoundConfig,
  read: Pick<Settings, 'profile'> | LeadsError,
  platform: string,
): CheckResult {
  const check = checkNamed('machine.config');
  if (read instanceof Error) return check.fail(read);
  if (file === undefined) return check.pass({ kind: 'config-missing', path });
  const hasModes = platform !== 'win32';
  const wasOpen = hasModes && [file, directory].some(isOpen);
  if (wasOpen) {
    const kind = isOpen(statOf(path)) ? 'config-open' : 'config-closed';
    return check.warn({ kind, path, mode: modeOf(file) });
  }
  if (!isWritable(path)) return check.warn({ kind: 'config-unwritable', path });
  return check.pass({ kind: 'config-in-order', path, hasModes, profile: read.profile });
}

/** After so many days a secret should be replaced. */
const longestDays = 90;

/** How long ago each secret of the profile was stored that no variable goes before. */
export function checkSecretAges(
  profile: Profile,
  env: Readonly<Record<string, string | undefined>>,
  now: number,
): CheckResult[] {
  const stored = settingKeys.filter(
    ({ secret, path, variable = '' }) =>
      secret && !env[variable]?.trim() && valueAt(profile, path) !== undefined,
  );
  return stored.map(({ name: setting }) => {
    const check = checkNamed(`machine.${setting.replace('webhook.', '')}`);
    const age = now - Date.parse(profile.setAt?.[setting] ?? '');
    const days = Math.max(0, Math.floor(age / 86_400_000));
    if (Number.isNaN(days)) return check.skip({ kind: 'secret-undated' });
    if (days > longestDays) return check.warn({ kind: 'secret-old', setting, days });
    return check.pass({ kind: 'secret-stored', days });
  });
}

/** A warning where a lead that is delivered is identified by another field than one that is listed. */
export function checkIdFields({
  dialect,
  webhookId,
}: Pick<Settings, 'dialect' | 'webhookId'>): CheckResult[] {
  const listed = dialect.id ?? 'id';
  if (webhookId === listed) return [];
  return [checkNamed('receiver.id').warn({ kind: 'two-id-fields', listed, delivered: webhookId })];
}

const isOpen = (stat: Stats | undefined): boolean =>
  stat !== undefined && !stat.isSymbolicLink() && isOpenToOthers(stat);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The oldest version that is supported; `engines` in package.json says the same. */
const oldest = [20, 19] as const;

export function checkNodeVersion(version: string): CheckResult {
  const check = checkNamed('machine.node');
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return isOld
    ? check.fail({ kind: 'node-old', version, oldest: oldest.join('.') })
    : check.pass({ kind: 'node-current', version });
}
