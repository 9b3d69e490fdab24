import * as z from 'zod/mini';
import { settingKey } from '../../config/keys.ts';
import { effectiveSettings } from '../../config/effective-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/sink.ts';
import type { Outcome } from '../command-spec.ts';
import { text } from '../values.ts';

export const options = z.object({ key: text() });

export async function run({ key }: z.output<typeof options>, context: Context): Promise<Outcome> {
  const { name } = settingKey(key);
  const found = (await effectiveSettings(context)).find((setting) => setting.key === name);
  if (found === undefined)
    throw new ConfigError(`${name} is not set`, { hint: `leads config set ${name} …` });
  await write(context.stdout, `${sanitize(found.value)}\n`);
  return 'done';
}
