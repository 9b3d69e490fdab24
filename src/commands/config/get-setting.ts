import { effectiveSettings } from '../../config/effective-settings.ts';
import { findSetting } from './find-setting.ts';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/stdout.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { ConfigKeyOptions } from './options.ts';

export async function run({ key }: ConfigKeyOptions, context: Context): Promise<Outcome> {
  const { name } = findSetting(key);
  const found = (await effectiveSettings(context)).find((setting) => setting.key === name);
  if (found === undefined)
    throw new ConfigError(`${name} is not set`, { hint: `leads config set ${name} …` });
  await write(context.stdout, `${sanitize(found.value)}\n`);
  return 'done';
}
